package backend

import (
	"sync"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxOutbox bounds what waits for a reader that does not read.
const maxOutbox = 16

// outbox hands results to a reader that may be slow. A partial result that was not taken yet is replaced by a newer one;
// what ends an utterance, and the last result, is kept in order. One goroutine runs it.
type outbox struct {
	results chan pipeline.TranscriptResult
	wake    chan struct{}
	quit    <-chan struct{} // closed: nobody reads any more

	mu      sync.Mutex
	pending []pipeline.TranscriptResult // Invariant: len <= maxOutbox+1; two plain partials never stand in a row
	ended   bool                        // the last result was put
}

func newOutbox(quit <-chan struct{}) *outbox {
	return &outbox{results: make(chan pipeline.TranscriptResult), wake: make(chan struct{}, 1), quit: quit}
}

func plain(r pipeline.TranscriptResult) bool {
	return !r.EOU && !r.Backchannel && !r.Final && r.Err == nil
}

// put adds a result. After the last one (final or error) it does nothing.
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

// take removes the oldest result.
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

// putBack returns a result that nobody took, unless a newer one replaces it.
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
