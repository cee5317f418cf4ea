package session

// The queue between every other goroutine and the actor.

// queueSize is how many events may wait for a session: about 4 s of audio frames, with room for everything else.
const queueSize = 512

// queue carries events to the actor. Its methods are safe for concurrent use.
type queue struct {
	events chan event
	ending chan struct{} // closed when the actor takes no more events
	deaf   bool          // the actor takes its events from a logbook: what comes is dropped
}

func newQueue() queue {
	return queue{events: make(chan event, queueSize), ending: make(chan struct{})}
}

// post waits for room. It reports false when the session has ended and the event is lost.
func (q *queue) post(e event) bool {
	if q.deaf {
		return true
	}
	select {
	case <-q.ending:
		return false
	default:
	}
	select {
	case q.events <- e:
		return true
	case <-q.ending:
		return false
	}
}

// offer drops the event and returns false when the queue is nearly full: the last quarter is for control events.
func (q *queue) offer(e event) bool {
	if len(q.events) > cap(q.events)*3/4 {
		return false
	}
	select {
	case q.events <- e:
		return true
	case <-q.ending:
		return false
	default:
		return false
	}
}
