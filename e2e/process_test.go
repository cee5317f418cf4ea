package e2e

// Back-end processes that fail.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// asBackEnd is the environment variable that makes the test program a back-end process.
const asBackEnd = "ANTIPHON_TEST_BACKEND"

func TestMain(m *testing.M) {
	if os.Getenv(asBackEnd) == "" {
		// Calls mostly wait, so many at a time take no longer than one.
		if err := flag.Set("test.parallel", "16"); err != nil {
			panic(err)
		}
		goleak.VerifyTestMain(m)
	}
	if err := backend.ServeStdio(context.Background(), moody{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// moody is a recogniser that crashes, hangs or returns garbage, as the session's prompt says.
type moody struct{}

func (moody) Info() backend.Info { return backend.Info{Name: "moody", Live: true} }
func (moody) Close() error       { return nil }
func (moody) Open(_ context.Context, c backend.Config) (backend.Stream, error) {
	return &mood{prompt: c.Prompt}, nil
}

type mood struct {
	prompt string
	n      int
}

func (m *mood) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	m.n += len(pcm)
	if m.n > pipeline.InputRate/2 {
		switch m.prompt {
		case "crash":
			os.Exit(7)
		case "garbage":
			fmt.Print("\x00\xff this is no frame, it is a complaint \xff\xff\xff\xff\xff\xff")
		}
	}
	return backend.Update{Partial: "I hear "}, nil
}

func (m *mood) Finish(context.Context) (backend.Result, error) {
	switch m.prompt {
	case "hang":
		select {}
	case "fail":
		return backend.Result{}, errors.New("these are no words")
	case "nonsense":
		return backend.Result{Text: "\xff\x00\u202e\"\\ nonsense", Boundary: 77}, nil
	}
	return backend.Result{Text: "I hear you", Boundary: backend.EndOfUtterance}, nil
}

func (*mood) Close() error { return nil }

// TestBackEndProcess: a back-end process that crashes, hangs or returns garbage loses its turn and nothing else.
func TestBackEndProcess(t *testing.T) {
	t.Parallel()
	for prompt, says := range map[string]string{
		"crash": "back-end process ended", "garbage": "frame is too large", "hang": "no progress", "fail": "these are no words",
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			h := openMoody(t)
			other, c := call(t, callOptions{url: h.url}), call(t, callOptions{url: h.url})
			c.prompt(prompt)
			c.say("anybody there")
			other.say("and I")
			other.answer("You said: I hear you")
			failed := nextOf[*wire.ConversationItemInputAudioTranscriptionFailed](c)
			c.Expect(failed.Error.Message).To(gomega.ContainSubstring(says))
			c.prompt("")
			c.say("anybody there")
			c.answer("You said: I hear you")
		})
	}
}

// TestGarbageTranscriptsKeepTheProtocol: garbage that a recogniser returns as text does not break the protocol.
func TestGarbageTranscriptsKeepTheProtocol(t *testing.T) {
	t.Parallel()
	c := call(t, callOptions{url: openMoody(t).url})
	c.prompt("nonsense")
	c.say("anybody there")
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(transcript(done)).To(gomega.ContainSubstring("nonsense"))
}

// openMoody runs a server whose recogniser runs in processes of this test program.
func openMoody(t *testing.T) *house {
	t.Helper()
	self, err := os.Executable()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	pool := backend.NewPool(backend.Options{Hang: time.Second, Command: func() *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), asBackEnd+"=1")
		return cmd
	}})
	p := scripted.New(scripted.Options{})
	p.Transcriber, p.Close, p.Warm = pool, pool.Close, pool.Warm
	return open(t, nil, func(c *server.Config) { c.Pipeline = p })
}

// prompt changes the session's hint for the recogniser.
func (c *caller) prompt(words string) {
	c.sendText(fmt.Appendf(nil, `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"m","prompt":%q}}}}}`, words))
	c.next("session.updated")
}
