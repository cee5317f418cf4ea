//go:build linux

package desktop

// A device of the sound server: the goroutine that exchanges sound with it, and its end.

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

const (
	// block is how many samples go to or from the server at a time: 10 ms.
	block = native.Rate / 100
	// buffered is how much the server is asked to hold, in bytes: 40 ms.
	buffered = 2 * native.Rate * 40 / 1000
	// patience is how long Close waits for a server that does not answer any more.
	patience = time.Second
)

// device is what a Microphone and a Speaker have in common: a goroutine that exchanges blocks with the server.
type device struct {
	queue queue
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once
	err   atomic.Pointer[error]
}

func newDevice() device { return device{stop: make(chan struct{}), done: make(chan struct{})} }

// run exchanges blocks until the device is closed, or fails.
func (d *device) run(s *stream, exchange func(block []int16) error) {
	defer close(d.done)
	defer s.free()
	pcm := make([]int16, block)
	for {
		select {
		case <-d.stop:
			return
		default:
		}
		if err := exchange(pcm); err != nil {
			d.err.Store(&err)
			return
		}
	}
}

// Err says why the device has ended before it was closed; nil while it works.
func (d *device) Err() error {
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Close gives the device back. A server that hangs is left after a second. May be called twice.
func (d *device) Close() error {
	d.once.Do(func() { close(d.stop) })
	select {
	case <-d.done:
	case <-time.After(patience):
	}
	return d.Err()
}
