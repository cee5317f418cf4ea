//go:build !js

package native

// The messages that wait to be sent over a WebSocket.

import "sync"

// sendQueue holds messages until the connection takes them. Make it with newSendQueue. Safe for concurrent use.
type sendQueue struct {
	ready chan struct{} // has a token when a message waits

	mu       sync.Mutex
	messages [][]byte
	bytes    int // the size of all messages. Invariant: at most maxBuffered.
}

// put adds a message. It returns false, and drops the message, when more than limit bytes would wait.
func (q *sendQueue) put(message []byte, limit int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+len(message) > limit {
		return false
	}
	q.messages = append(q.messages, message)
	q.bytes += len(message)
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return true
}

// take removes and returns the oldest message; nil when none waits.
func (q *sendQueue) take() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.messages) == 0 {
		return nil
	}
	next := q.messages[0]
	q.messages[0] = nil
	q.messages = q.messages[1:]
	q.bytes -= len(next)
	return next
}
