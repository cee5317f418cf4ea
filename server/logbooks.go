package server

// The folder of the logbooks, from which calls are played again.

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
)

const keptLogbooks = 100 // the default of Watch.LogbooksKept

// logbooks returns what begins the logbook of a session; nil if there are none.
func (w *Watch) logbooks() (func() *logbook.Recording, error) {
	if w.Logbooks == "" {
		return nil, nil //nolint:nilnil // no logbooks are no error
	}
	if err := os.MkdirAll(w.Logbooks, 0o700); err != nil {
		return nil, fmt.Errorf("server: Config.Logbooks: %w", err)
	}
	var one sync.Mutex
	return func() *logbook.Recording {
		r := &logbook.Recording{Sound: w.LogbookSound, Open: func(session string) (io.WriteCloser, error) {
			one.Lock()
			defer one.Unlock()
			return logbook.Create(w.Logbooks, session, cmp.Or(w.LogbooksKept, keptLogbooks), time.Now())
		}}
		_, _ = rand.Read(r.Seed[:]) // never fails, see crypto/rand
		return r
	}, nil
}
