package session

// The log of a session: one line at info level for each transition of its life, with the call's id and without words.

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/wire"
)

// logged returns a logger of a call, and what it has logged.
func logged() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, nil)).With("call", "rtc_1"), &text
}

// lifecycle returns the lines at info level, each as its message and its attributes. It checks that each has the ids of the call and the
// session.
func lifecycle(g *gomega.WithT, log *bytes.Buffer) (messages []string) {
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, " level=INFO ") {
			continue
		}
		g.Expect(line).To(gomega.ContainSubstring(" call=rtc_1 session=sess_"))
		_, rest, _ := strings.Cut(line, " msg=")
		message, about, _ := strings.Cut(rest, " call=rtc_1 ")
		_, about, _ = strings.Cut(about, " ")
		messages = append(messages, strings.Trim(message, `"`)+" | "+strings.TrimSpace(about))
	}
	return messages
}

func TestEachTransitionIsLoggedOnce(t *testing.T) {
	const begins = "session begins | pipeline=scripted"
	story(t, "a connection is interrupted and restored, and interrupted for good", func(t *testing.T) {
		g := gomega.NewWithT(t)
		logger, log := logged()
		r := &reconnectingClient{caller: newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Logger: logger})}
		r.s.Start(r)
		first(r.caller, "session.created")
		r.send(`{"type":"antiphon.hello","event_id":"h"}`)
		first(r.caller, "antiphon.ack")
		r.ask("my secret is 42")
		first(r.caller, "response.done")
		r.s.Failed(errGone)
		wait(time.Second)
		r.s.Failed(errGone)
		r.s.Leave()
		r.s.Restored()
		wait(time.Second)
		r.s.Restored()
		wait(time.Second)
		r.s.Failed(errGone)
		<-r.s.Done()
		g.Expect(lifecycle(g, log)).To(gomega.Equal([]string{
			begins, "connection interrupted | grace=1m0s", "connection restored | ", "connection interrupted | grace=1m0s",
			"session ends | reason=GraceOver dropped_audio_frames=0",
		}))
		g.Expect(log.String()).NotTo(gomega.ContainSubstring("secret"))
	})
	for name, end := range map[string]struct {
		err    error
		reason string
	}{
		"the client hangs up":          {link.ErrHungUp, "ByClient"},
		"the transport fails for good": {errGone, "Failed"},
		"the session drains":           {nil, "ServerStops"},
	} {
		story(t, name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			logger, log := logged()
			c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Logger: logger}).start()
			want := []string{begins}
			if end.err == nil {
				c.s.Drain(time.Minute)
				want = append(want, "the session ends at a pause, because the server stops | within=1m0s")
			} else {
				c.s.Failed(end.err)
			}
			<-c.s.Done()
			last := "session ends | reason=" + end.reason + " dropped_audio_frames=0"
			if end.reason == "Failed" {
				last += fmt.Sprintf(" err=%q", errGone.Error())
			}
			g.Expect(lifecycle(g, log)).To(gomega.Equal(append(want, last)))
		})
	}
	story(t, "a stage hangs", func(t *testing.T) {
		g := gomega.NewWithT(t)
		logger, log := logged()
		c, _ := hangsLogging(t, false, "generate", logger)
		c.ask("hello")
		first(c, "response.done")
		g.Expect(lifecycle(g, log)).To(gomega.Equal([]string{begins, "a call into a stage is abandoned | stage=model waited_for=\"the first token\" limit=1m0s"}))
	})
}
