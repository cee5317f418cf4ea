package session

// A panic in the actor ends its session only.

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestActorPanics lets the actor's goroutine panic.
func TestActorPanics(t *testing.T) {
	story(t, "the session ends in order, and the log says why", func(t *testing.T) {
		var log bytes.Buffer
		c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Trace: func(_ string, st coord.Step) {
			if _, is := st.Event.(turn.Clear); is {
				panic("a fault of ours")
			}
		}})
		c.s.log = slog.New(slog.NewTextHandler(&log, nil))
		c.s.Start(c)
		first(c, "session.created")
		c.send(`{"type":"input_audio_buffer.clear"}`)
		<-c.s.Done()
		c.g.Expect(log.String()).To(gomega.ContainSubstring(sessionFailed))
		c.g.Expect(log.String()).To(gomega.ContainSubstring("perform.go"))
	})
}
