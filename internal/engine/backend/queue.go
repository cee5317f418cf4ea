package backend

// This file holds audio that waits for an engine.

import (
	"slices"
	"sync"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// queue holds the audio that the engine has not taken yet.
type queue struct {
	wake chan struct{} // gets a value after each change

	mu     sync.Mutex
	pcm    []float32
	taken  int // samples at the begin of pcm that were read
	limit  int // samples
	closed bool
}

func newQueue(limit int) *queue { return &queue{wake: make(chan struct{}, 1), limit: limit} }

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// write adds samples up to the limit. If not all fit, it returns ErrOverrun.
func (q *queue) write(pcm []float32) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return pipeline.ErrClosed
	}
	room := max(0, q.limit-len(q.pcm)+q.taken)
	if q.taken > len(q.pcm)/2 { // so seldom that each sample is moved about once
		q.drop()
	}
	q.pcm = append(q.pcm, pcm[:min(room, len(pcm))]...)
	q.signal()
	if room < len(pcm) {
		return pipeline.ErrOverrun
	}
	return nil
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// read moves the next samples into dst and returns their number. end: the queue is closed and empty.
func (q *queue) read(dst []float32) (n int, end bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = copy(dst, q.pcm[q.taken:])
	if q.taken += n; q.taken == len(q.pcm) {
		q.drop()
	}
	return n, n == 0 && q.closed
}

// drop removes what was read. The caller holds mu.
func (q *queue) drop() {
	q.pcm = q.pcm[:copy(q.pcm, q.pcm[q.taken:])]
	q.taken = 0
}

// unread puts samples back to the front. They do not count against the limit.
func (q *queue) unread(pcm []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pcm, q.taken = append(slices.Clone(pcm), q.pcm[q.taken:]...), 0
	q.signal()
}
