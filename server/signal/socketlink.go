package signal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/call"
)

// Limits of what waits to be written to one WebSocket client.
const (
	maxQueued      = 4096
	maxQueuedBytes = 16 << 20
)

// writePatience is how long a client may take to read what is on its way before it counts as gone.
const writePatience = 20 * time.Second

// closePatience is how long a closing connection may take to write what waits.
const closePatience = 2 * time.Second

// socketLink is a WebSocket as a session sees it. What is sent before run waits. It implements call.Link.
type socketLink struct {
	ws     *websocket.Conn
	ctx    context.Context //nolint:containedctx // the life of the link's goroutines, not of a call
	cancel context.CancelFunc
	joined sync.WaitGroup
	wake   chan struct{}
	ended  chan struct{} // closed when nothing more is to be sent
	over   chan struct{} // closed when nothing of it is left

	mu     sync.Mutex
	queue  []outgoing
	unsent []outgoing // taken from the queue, and not written
	bytes  int
	closed bool
	left   bool // nothing of it may begin any more
	why    conn.Reason
}

type outgoing struct {
	text []byte
	sent func()
}

func newSocketLink() *socketLink {
	return &socketLink{wake: make(chan struct{}, 1), ended: make(chan struct{}), over: make(chan struct{}), cancel: func() {}}
}

// run begins to read and to write.
func (l *socketLink) run(ctx context.Context, ws *websocket.Conn, h *Handler, to inlet) {
	l.open(ctx, ws)
	l.begin(h, to)
}

// open gives the link its connection.
func (l *socketLink) open(ctx context.Context, ws *websocket.Conn) {
	l.ws = ws
	l.ctx, l.cancel = context.WithCancel(ctx)
}

// begin reads and writes, unless the link was closed meanwhile.
func (l *socketLink) begin(h *Handler, to inlet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left {
		return
	}
	l.joined.Go(func() { l.write(l.ctx, to) })
	l.joined.Go(func() { h.read(l.ctx, l.ws, to) })
}

// Output implements call.Link: the client plays by itself.
func (l *socketLink) Output() call.Output { return nil }

// Send implements call.Link.
func (l *socketLink) Send(e call.Event, sent func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return call.ErrClosed
	case len(l.queue) >= maxQueued || l.bytes+len(e.Text) > maxQueuedBytes:
		return call.ErrBackpressure
	}
	l.queue = append(l.queue, outgoing{e.Text, sent})
	l.bytes += len(e.Text)
	l.signal()
	return nil
}

func (l *socketLink) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take is what waits, and whether more may come.
func (l *socketLink) take() ([]outgoing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.queue
	l.queue, l.bytes = nil, 0
	return out, !l.closed
}

// end says that nothing more is to be sent: what waits still goes out.
func (l *socketLink) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.ended)
		l.signal()
	}
}

// cut ends the connection of a client that does not read: what waits is of no use.
func (l *socketLink) cut() {
	l.mu.Lock()
	l.queue, l.bytes, l.why = nil, 0, conn.Overrun
	l.mu.Unlock()
	l.end()
}

func (l *socketLink) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

// keep notes what was not written.
func (l *socketLink) keep(out []outgoing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsent = out
}

// abandon implements transport.
func (l *socketLink) abandon() (owed []func()) {
	l.mu.Lock()
	closed := l.closed
	l.closed, l.left = true, true
	l.mu.Unlock()
	l.cancel()
	_ = l.ws.CloseNow() // it is gone
	l.joined.Wait()
	if !closed {
		close(l.ended)
	}
	defer close(l.over)
	for _, o := range append(l.unsent, l.queue...) {
		if o.sent != nil {
			owed = append(owed, o.sent)
		}
	}
	return owed
}

// because says why the connection will be closed.
func (l *socketLink) because(why conn.Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != conn.Overrun {
		l.why = why
	}
}

// farewell is how the connection is closed.
func (l *socketLink) farewell() (websocket.StatusCode, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.why {
	case conn.Overrun:
		return websocket.StatusPolicyViolation, call.ErrBackpressure.Error()
	case conn.ServerStops:
		return websocket.StatusGoingAway, "the server is stopping: call again in a moment"
	case conn.ByClient, conn.GraceOver, conn.Failed, conn.TimeLimit: // an error has said it, or nobody needs to be told
	}
	return websocket.StatusNormalClosure, ""
}

// write sends what waits until the link is closed and everything is out, or the client is gone.
func (l *socketLink) write(ctx context.Context, to inlet) {
	for {
		out, open := l.take()
		for i, o := range out {
			if err := l.writeOne(ctx, o.text); err != nil {
				l.keep(out[i:])
				if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
					to.gone(parted(err))
				}
				return
			}
			if o.sent != nil {
				o.sent()
			}
		}
		if len(out) > 0 {
			continue
		}
		if !open {
			_ = l.ws.Close(l.farewell()) // the other side may be gone: that is fine too
			return
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
	}
}

// writeOne gives up on a client that takes nothing: the agent's voice waits for it, so that its queue may never be full.
func (l *socketLink) writeOne(ctx context.Context, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	return l.ws.Write(ctx, websocket.MessageText, text)
}

// Close implements call.Link: it writes what waits, for as long as a client that reads needs, and ends the connection.
func (l *socketLink) Close() error {
	l.end()
	l.leave()
	stop := l.afterPatience()
	l.joined.Wait()
	stop()
	l.cancel()
	defer close(l.over)
	return l.ws.CloseNow()
}

// parted is the end of a connection as a session has it: a client that takes leave has hung up, and one whose connection breaks
// cannot be reached.
func parted(err error) error {
	if websocket.CloseStatus(err) < 0 {
		return fmt.Errorf("%w: %w", call.ErrUnreachable, err)
	}
	return fmt.Errorf("%w: %w", call.ErrHungUp, err)
}

// afterPatience cuts the connection when a client does not take the rest in time.
func (l *socketLink) afterPatience() (stop func()) {
	t := time.AfterFunc(closePatience, l.cancel)
	return func() { t.Stop() }
}
