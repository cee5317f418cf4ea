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

// handlerGate passes calls on to a Handler, until the peer closes. It implements call.Handler.
type handlerGate struct {
	life *lifecycle
	to   call.Handler
}

func (g handlerGate) Opened() { g.life.handle(g.to.Opened) }
func (g handlerGate) Message(data []byte, text bool) {
	g.life.handle(func() { g.to.Message(data, text) })
}
func (g handlerGate) Audio(pcm []int16)  { g.life.handle(func() { g.to.Audio(pcm) }) }
func (g handlerGate) Missing(n int)      { g.life.handle(func() { g.to.Missing(n) }) }
func (g handlerGate) Lost()              { g.life.handle(g.to.Lost) }
func (g handlerGate) Restored()          { g.life.handle(g.to.Restored) }
func (g handlerGate) Failed(err error)   { g.life.handle(func() { g.to.Failed(err) }) }
func (g handlerGate) Drained(gen uint64) { g.life.handle(func() { g.to.Drained(gen) }) }

func (g handlerGate) Sent(gen uint64, sent voice.Samples, first bool) {
	g.life.handle(func() { g.to.Sent(gen, sent, first) })
}
