package outbound

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// What may wait for a peer that does not read.

// MaxWaiting is how many bytes wait for a peer, and WriteWithin how long a message may take.
const (
	MaxWaiting  = 256 << 10
	WriteWithin = 5 * time.Second
)

// ErrSlow ends the connection of a peer that does not read.
var ErrSlow = errors.New("sip: the peer does not read: the connection ends")

// Writer writes to a peer, one message at a time: each message has a goroutine of the stack, which waits here. The zero Writer is ready.
type Writer struct {
	waiting atomic.Int64 // bytes
	writing sync.Mutex
}

// Write writes to a connection. end closes it when the peer does not read.
func (w *Writer) Write(to net.Conn, b []byte, end func() error) (int, error) {
	size := int64(len(b))
	defer w.waiting.Add(-size)
	if w.waiting.Add(size) > MaxWaiting {
		_ = end() // the reader hears of it
		return 0, ErrSlow
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := to.SetWriteDeadline(time.Now().Add(WriteWithin)); err != nil {
		return 0, err
	}
	n, err := to.Write(b)
	if err != nil {
		_ = end() // the reader hears of it
	}
	return n, err
}
