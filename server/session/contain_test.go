package session

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/onsi/gomega"
)

// A fault of ours, such as a report of a body that there never was.
func TestActorPanics(t *testing.T) {
	story(t, "its session ends, in order, and says why in the log", func(t *testing.T) {
		var log bytes.Buffer
		c := newCaller(t, plain())
		c.s.log = slog.New(slog.NewTextHandler(&log, nil))
		c.s.Start(c)
		first(c, "session.created")
		c.s.queue.post(bodyTextEnded{id: 99})
		<-c.s.Done()
		c.g.Expect(log.String()).To(gomega.ContainSubstring(sessionFailed))
		c.g.Expect(log.String()).To(gomega.ContainSubstring("respond.go"))
	})
}
