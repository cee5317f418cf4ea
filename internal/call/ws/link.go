package ws

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
)

// A WebSocket as a session and its hub see it: the queue of outgoing events, and the ways in which a connection ends.

// Bounds of what waits to be written to one client.
const (
	maxQueued      = 4096
	maxQueuedBytes = 16 << 20
	ownQueued      = 1 << 20 // beside the budget
)

// closeTimeout is how long a connection that closes may take to write what waits.
const closeTimeout = 2 * time.Second

// Limits bound what a client sends.
type Limits struct {
	// Env times the events.
	Env env.Env
	// EventsPerSecond is the rate above which events wait: see link.EventLimiter.
	EventsPerSecond int
	// MaxMessage is the size of the largest message, in bytes.
	MaxMessage int64
	// Memory is the budget of all connections for messages above 256 KiB, and for what waits to be written.
	Memory account.Purse
}

// Link is one WebSocket. It implements link.Connection and link.SidebandLink and is safe for concurrent use. Events that are
// sent before Begin wait.
type Link struct {
	limits     Limits
	conn       *websocket.Conn
	receiver   Receiver
	ctx        context.Context //nolint:containedctx // the life of the link's goroutines, not of a call
	cancel     context.CancelFunc
	goroutines sync.WaitGroup
	wake       chan struct{} // has a token when the queue may not be empty
	ended      chan struct{} // closed when nothing more will be sent
	gone       chan struct{} // closed when nothing of the connection is left

	mu        sync.Mutex
	queue     []outgoing
	bytes     int              // the size of the events in queue
	memory    *account.Account // for them
	unwritten []outgoing       // the event whose write has failed, or none
	closed    bool             // nothing more is queued
	finished  bool             // its goroutines must not begin any more
	why       conn.Reason      // the reason of the end
	broken    bool             // the client has sent what is no WebSocket frame
}

// outgoing is an event that waits to be written, and the function to call after the write.
type outgoing struct {
	text []byte
	sent func()
}

// NewLink returns a link that has no connection yet.
func NewLink(limits Limits) *Link {
	return &Link{
		limits: limits, memory: limits.Memory.Open(ownQueued), cancel: func() {},
		wake: make(chan struct{}, 1), ended: make(chan struct{}), gone: make(chan struct{}),
	}
}

// Open gives the link its connection. ctx ends its goroutines.
func (l *Link) Open(ctx context.Context, c *websocket.Conn, to Receiver) {
	l.conn, l.receiver = c, to
	l.ctx, l.cancel = context.WithCancel(ctx)
}

// Begin reads and writes, unless the link was closed meanwhile. The link is open.
func (l *Link) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finished {
		return
	}
	l.goroutines.Go(func() { l.write(l.ctx, l.receiver) })
	l.goroutines.Go(func() { l.read(l.ctx, l.receiver) })
	l.goroutines.Go(func() { l.ping(l.ctx, l.receiver) })
}

// Ended is closed when nothing more will be sent.
func (l *Link) Ended() <-chan struct{} { return l.ended }

// Gone is closed when nothing of the connection is left, after Close or Abandon.
func (l *Link) Gone() <-chan struct{} { return l.gone }

// Output implements link.Link: the client plays the audio by itself.
func (l *Link) Output() link.Output { return nil }

// Send implements link.Link.
func (l *Link) Send(e link.Event, sent func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return link.ErrClosed
	case len(l.queue) >= maxQueued || l.bytes+len(e.Text) > maxQueuedBytes, l.memory.Take(int64(len(e.Text))) != nil:
		return link.ErrBackpressure
	}
	l.queue = append(l.queue, outgoing{e.Text, sent})
	l.bytes += len(e.Text)
	l.wakeWriter()
	return nil
}

func (l *Link) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// pop removes and returns the first event. The other events stay in the queue and count for its limits. ok is false if there is no event,
// and more is false if none will follow.
func (l *Link) pop() (event outgoing, ok, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.queue = nil // frees the array, which a burst may have grown
		return outgoing{}, false, !l.closed
	}
	event = l.queue[0]
	l.queue[0] = outgoing{}
	l.queue = l.queue[1:]
	l.bytes -= len(event.text)
	l.memory.Give(int64(len(event.text)))
	return event, true, true
}

// keepUnwritten notes the event whose write has failed.
func (l *Link) keepUnwritten(event outgoing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unwritten = []outgoing{event}
}

func (l *Link) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.ended)
		l.wakeWriter()
	}
}

func (l *Link) Cut() {
	l.mu.Lock()
	l.memory.Give(int64(l.bytes))
	l.queue, l.bytes, l.why = nil, 0, conn.Overrun
	l.mu.Unlock()
	l.End()
}

// ExplainClose implements link.CloseExplainer. The reason of Cut stands.
func (l *Link) ExplainClose(why conn.Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != conn.Overrun {
		l.why = why
	}
}

// Abandon implements link.Connection. The link is open.
func (l *Link) Abandon() (unsent []func()) {
	l.mu.Lock()
	closed := l.closed
	l.closed, l.finished = true, true
	l.mu.Unlock()
	l.cancel()
	_ = l.conn.CloseNow() // the client is gone
	l.goroutines.Wait()
	if !closed {
		close(l.ended)
	}
	l.memory.Close()
	defer close(l.gone)
	for _, o := range append(l.unwritten, l.queue...) {
		if o.sent != nil {
			unsent = append(unsent, o.sent)
		}
	}
	return unsent
}

// Close implements link.Link: it writes what waits, for at most closeTimeout, and ends the connection. The link is open.
func (l *Link) Close() error {
	l.End()
	l.finish()
	limit := time.AfterFunc(closeTimeout, l.cancel)
	l.goroutines.Wait()
	limit.Stop()
	l.cancel()
	l.memory.Close()
	defer close(l.gone)
	return l.conn.CloseNow()
}

// finish lets no goroutine of the link begin any more.
func (l *Link) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished = true
}

var (
	_ link.Connection     = (*Link)(nil)
	_ link.CloseExplainer = (*Link)(nil)
	_ link.SidebandLink   = (*Link)(nil)
)
