//go:build !js

package native

// The goroutines of one call, and their end.

import (
	"errors"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/hangup"
)

// workers are the goroutines of a call. Make them with newWorkers. Safe for concurrent use.
type workers struct {
	stop chan struct{} // closed when the workers have to end
	once sync.Once
	err  error // what end returns

	mu      sync.Mutex
	stopped bool // Invariant: no goroutine is started once it is set.
	running sync.WaitGroup
}

func newWorkers() *workers { return &workers{stop: make(chan struct{})} }

// do runs f in a goroutine that end waits for. After end it does nothing.
func (w *workers) do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.running.Go(f)
	}
}

// end closes stop, calls free, which must make every worker return, and waits for the workers, unless free returns hangup.ErrStuck.
// It returns the error of free. Later calls wait for the first one and return the same.
func (w *workers) end(free func() error) error {
	w.once.Do(func() {
		w.mu.Lock()
		w.stopped = true
		w.mu.Unlock()
		close(w.stop)
		if w.err = free(); !errors.Is(w.err, hangup.ErrStuck) {
			w.running.Wait()
		}
	})
	return w.err
}
