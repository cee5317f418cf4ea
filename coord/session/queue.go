package session

// The queue of the responses whose audio waits until the response before them has been played.

import "github.com/antiphon-rt/antiphon/coord/response"

// Queue is the responses whose audio waits, the oldest first. A free place is 0.
type Queue [4]response.ID

// Len returns how many responses wait.
func (q Queue) Len() int {
	n := 0
	for n < len(q) && q[n] != 0 {
		n++
	}
	return n
}

// Has reports whether id waits.
func (q Queue) Has(id response.ID) bool {
	for _, w := range q {
		if w == id && id != 0 {
			return true
		}
	}
	return false
}

// with returns q with id at its end. The queue must have a free place.
func (q Queue) with(id response.ID) Queue {
	q[q.Len()] = id
	return q
}

// without returns q without id.
func (q Queue) without(id response.ID) Queue {
	var out Queue
	n := 0
	for _, w := range q {
		if w != id {
			out[n] = w
			n++
		}
	}
	return out
}
