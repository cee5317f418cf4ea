package rtc

import (
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The goroutines of a peer: starts and joins them, and calls the Handler from them until closing begins.

// lifecycle counts the goroutines of a peer. A goroutine that is in a Handler method counts apart: the peer cannot end the
// method, and if the method itself closes the peer, it cannot be waited for.
type lifecycle struct {
	stop  chan struct{} // closed when closing begins
	quiet chan struct{} // closed when the transport is down and every goroutine left is in a Handler method
	ended chan struct{} // closed when the transport is down and no goroutine is left

	mu        sync.Mutex
	stopped   bool
	down      bool // the transport is down
	running   int  // goroutines
	inHandler int  // those of running that are in a Handler method
}

func newLifecycle() *lifecycle {
	return &lifecycle{stop: make(chan struct{}), quiet: make(chan struct{}), ended: make(chan struct{})}
}

// begin starts closing. It reports false if closing has begun before.
func (l *lifecycle) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.stopped = true
	close(l.stop)
	return true
}

// closing reports whether closing has begun.
func (l *lifecycle) closing() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// start runs f on a goroutine of the peer. It reports false and does not run f if closing has begun.
func (l *lifecycle) start(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.running++
	go func() {
		defer l.count(-1, 0)
		f()
	}()
	return true
}

// transportDown notes that the transport is down, which ends every goroutine that waits for it.
func (l *lifecycle) transportDown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	l.report()
}

// handle runs f, which calls a Handler method, on a goroutine of the peer. It does nothing once closing has begun.
func (l *lifecycle) handle(f func()) {
	if !l.enterHandler() {
		return
	}
	defer l.count(0, -1)
	f()
}

func (l *lifecycle) enterHandler() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.inHandler++
	return true
}

// count changes how many goroutines run and how many of them are in a Handler method.
func (l *lifecycle) count(running, inHandler int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running += running
	l.inHandler += inHandler
	l.report()
}

// report closes quiet and ended when they are due. The caller holds mu.
func (l *lifecycle) report() {
	if l.down && l.running == l.inHandler {
		closeOnce(l.quiet)
	}
	if l.down && l.running == 0 {
		closeOnce(l.ended)
	}
}

// closeOnce closes c if it is open. Calls for the same channel exclude each other.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// openHandler passes calls on to a Handler while the peer is open. It implements link.Handler.
type openHandler struct {
	life *lifecycle
	to   link.Handler
}

func (h openHandler) Opened() { h.life.handle(h.to.Opened) }
func (h openHandler) Message(data []byte, text bool) {
	h.life.handle(func() { h.to.Message(data, text) })
}
func (h openHandler) Audio(pcm []int16)  { h.life.handle(func() { h.to.Audio(pcm) }) }
func (h openHandler) Missing(n int)      { h.life.handle(func() { h.to.Missing(n) }) }
func (h openHandler) Lost()              { h.life.handle(h.to.Lost) }
func (h openHandler) Restored()          { h.life.handle(h.to.Restored) }
func (h openHandler) Failed(err error)   { h.life.handle(func() { h.to.Failed(err) }) }
func (h openHandler) Drained(gen uint64) { h.life.handle(func() { h.to.Drained(gen) }) }

func (h openHandler) Sent(gen uint64, sent voice.Samples, first bool) {
	h.life.handle(func() { h.to.Sent(gen, sent, first) })
}
