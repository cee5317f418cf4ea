package session

// Every session of this package's tests is recorded and played again.

import (
	"bytes"
	"crypto/rand"
	"io"
	"testing"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
)

// memoryBook is a logbook in memory.
type memoryBook struct{ bytes.Buffer }

// Close implements io.Closer.
func (*memoryBook) Close() error { return nil }

func (p *memoryBook) recording() *logbook.Recording {
	to := &logbook.Recording{Open: func(string) (io.WriteCloser, error) { return p, nil }}
	_, _ = rand.Read(to.Seed[:]) // never fails
	return to
}

// check plays the logbook: it has the same transitions and events.
func (p *memoryBook) check(t *testing.T) {
	t.Helper()
	played, err := Replay(&p.Buffer, func(logbook.Moment) error { return nil })
	if err != nil {
		t.Errorf("the logbook does not play as it was recorded: %v", err)
	}
	if played.End != "the session ended" {
		t.Errorf("the logbook ends after %d entries: %q", played.Entries, played.End)
	}
}
