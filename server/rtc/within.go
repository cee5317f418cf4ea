package rtc

import (
	"reflect"
	"runtime"
)

// run is the bottom of the stack of every goroutine of a peer that may call its handler.
func (p *Peer) run(f func()) {
	defer p.wg.Done()
	f()
}

// withinPeer reports whether the caller runs on such a goroutine, that is, inside a Handler method. Go gives goroutines
// no identity; the stack, however, knows its own bottom. It is asked only when a call closes.
func withinPeer() bool {
	run := runtime.FuncForPC(reflect.ValueOf((*Peer).run).Pointer()).Name()
	stack := make([]uintptr, 64)
	for {
		n := runtime.Callers(2, stack)
		if n < len(stack) {
			stack = stack[:n]
			break
		}
		stack = make([]uintptr, 2*len(stack))
	}
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		if f.Function == run {
			return true
		}
		if !more {
			return false
		}
	}
}
