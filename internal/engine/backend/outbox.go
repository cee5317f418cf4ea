package backend

// This file passes results from an engine to a reader that may be slow.

import (
	"sync"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxOutbox limits how many results wait for the reader.
const maxOutbox = 16

// outbox passes results to a reader that may be slow. A newer partial result replaces one that the reader has not taken. Results
// with EOU or Backchannel, and the last result, are kept in order. One goroutine calls run.
type outbox struct {
	results chan pipeline.TranscriptResult
	wake    chan struct{}
	quit    <-chan struct{} // closed when nobody reads any more

	mu      sync.Mutex
	pending []pipeline.TranscriptResult // Invariant: len <= maxOutbox+1; two plain partials never stand in a row
	ended   bool                        // the last result was put
}

func newOutbox(quit <-chan struct{}) *outbox {
	return &outbox{results: make(chan pipeline.TranscriptResult), wake: make(chan struct{}, 1), quit: quit}
}

// plain reports whether a newer partial result may replace r.
func plain(r pipeline.TranscriptResult) bool {
	return !r.EOU && !r.Backchannel && !r.Final && r.Err == nil
}

// put adds a result. After the last result (Final or Err) it does nothing.
func (o *outbox) put(r pipeline.TranscriptResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = r.Final || r.Err != nil
	n := len(o.pending)
	switch {
	case n > 0 && plain(o.pending[n-1]) && !o.ended:
		o.pending[n-1] = r
	case n >= maxOutbox && !o.ended:
		last := &o.pending[n-1]
		last.Partial, last.EOU, last.Backchannel = r.Partial, last.EOU || r.EOU, last.Backchannel || r.Backchannel
	default:
		o.pending = append(o.pending, r)
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take removes and returns the oldest result.
func (o *outbox) take() (r pipeline.TranscriptResult, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		return r, false
	}
	r = o.pending[0]
	o.pending = o.pending[1:]
	return r, true
}

// putBack puts a result that the reader did not take back to the front, unless a newer result replaces it.
func (o *outbox) putBack(r pipeline.TranscriptResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if plain(r) && len(o.pending) > 0 && o.pending[0].Err == nil {
		return
	}
	o.pending = append([]pipeline.TranscriptResult{r}, o.pending...)
}

// run delivers until the last result is taken or quit is closed, then closes results.
func (o *outbox) run() {
	defer close(o.results)
	for {
		r, ok := o.take()
		if !ok {
			select {
			case <-o.wake:
			case <-o.quit:
				return
			}
			continue
		}
		select {
		case o.results <- r:
			if r.Final || r.Err != nil {
				return
			}
		case <-o.wake:
			o.putBack(r)
		case <-o.quit:
			return
		}
	}
}
