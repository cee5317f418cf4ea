package server

// The folder of the logbooks, from which calls are played again.

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
)

const (
	logbookSuffix = ".logbook"
	keptLogbooks  = 100 // the default of Watch.LogbooksKept
)

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
			return w.openLogbook(session)
		}}
		_, _ = rand.Read(r.Seed[:]) // never fails, see crypto/rand
		return r
	}, nil
}

// openLogbook makes room for the logbook of a session, and opens it.
func (w *Watch) openLogbook(session string) (io.WriteCloser, error) {
	files, err := os.ReadDir(w.Logbooks) // sorted by name, and so by time
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool { return !f.Type().IsRegular() || !strings.HasSuffix(f.Name(), logbookSuffix) })
	for _, f := range files[:max(0, len(files)-max(1, cmp.Or(w.LogbooksKept, keptLogbooks))+1)] {
		err = errors.Join(err, os.Remove(filepath.Join(w.Logbooks, f.Name())))
	}
	if err != nil {
		return nil, err
	}
	name := time.Now().UTC().Format("2006-01-02T15-04-05.000000Z_") + filepath.Base(session) + logbookSuffix
	return os.OpenFile(filepath.Join(w.Logbooks, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
