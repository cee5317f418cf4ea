// Package queue has the queue of the outgoing events of a call.
package queue

import (
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// Queue holds the events that wait to be sent, first in, first out. Their number and bytes are bounded. It is safe for
// concurrent use. The owner must close it.
type Queue struct {
	memory    link.Memory // for the bytes; nil has no limit
	mu        sync.Mutex
	items     [][]byte
	bytes     int
	maxItems  int
	maxBytes  int
	closed    error         // why Push takes nothing more; nil while it does
	available chan struct{} // has a token when the queue may not be empty
}

// New returns an empty queue for so many events and bytes. The bytes are taken from memory, which may be nil.
func New(maxItems, maxBytes int, memory link.Memory) *Queue {
	return &Queue{memory: memory, maxItems: maxItems, maxBytes: maxBytes, available: make(chan struct{}, 1)}
}

// Push puts an event at the end; nobody changes its text. If the event does not fit, the queue closes with link.ErrBackpressure.
func (q *Queue) Push(event []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return q.closed
	}
	if len(q.items) >= q.maxItems || q.bytes+len(event) > q.maxBytes || q.memory != nil && q.memory.Take(int64(len(event))) != nil {
		q.closeLocked(link.ErrBackpressure)
		return link.ErrBackpressure
	}
	q.items = append(q.items, event)
	q.bytes += len(event)
	select {
	case q.available <- struct{}{}:
	default:
	}
	return nil
}

// Available returns a channel that has a token when the queue may not be empty.
func (q *Queue) Available() <-chan struct{} { return q.available }

// Pop removes and returns the first event. ok is false if there is none.
func (q *Queue) Pop() (event []byte, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		q.items = nil // frees the array, which a burst may have grown
		return nil, false
	}
	event = q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	q.free(len(event))
	return event, true
}

// Close makes Push return err from now on, and drops the events that wait. The first error counts.
func (q *Queue) Close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closeLocked(err)
}

// Seal makes Push return err from now on. Pop still returns the events that wait.
func (q *Queue) Seal(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed == nil {
		q.closed = err
	}
}

func (q *Queue) closeLocked(err error) {
	if q.closed == nil {
		q.closed = err
	}
	q.items = nil
	q.free(q.bytes)
}

func (q *Queue) free(n int) {
	q.bytes -= n
	if q.memory != nil {
		q.memory.Give(int64(n))
	}
}
