package ws

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// The writing half of a connection: writes what waits in the queue, and closes the connection with a reason.

// writeTimeout is how long a client may take to read one event before it counts as gone.
const writeTimeout = 20 * time.Second

// settle is how long the first event waits after the answer to the handshake. A client in Node that waits for "open" and listens afterwards loses an
// event that comes together with that answer: without the wait, 69 of 100 clients with `await once(ws, "open")` (ws 8.23) missed session.created.
const settle = 20 * time.Millisecond

// write sends the queue until the link is closed and the queue is empty, or until the client is gone.
func (l *Link) write(ctx context.Context, to Receiver) {
	settled := make(chan struct{})
	l.limits.Env.AfterFunc(settle, func() { close(settled) })
	select {
	case <-settled:
	case <-ctx.Done():
		return
	}
	for {
		e, ok, more := l.pop()
		if ok {
			if err := l.writeOne(ctx, e.text); err != nil {
				l.keepUnwritten(e)
				if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
					to.Gone(whyGone(err))
				}
				return
			}
			if e.sent != nil {
				e.sent()
			}
			continue
		}
		if !more {
			_ = l.conn.Close(l.closeStatus()) // the client may be gone, which is fine
			return
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
	}
}

// writeOne writes one event within writeTimeout. The deadline is needed: the agent's audio waits for a client that reads nothing,
// so that its queue may never be full.
func (l *Link) writeOne(ctx context.Context, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, text)
}

// closeStatus returns the code and the reason with which the connection closes.
func (l *Link) closeStatus() (websocket.StatusCode, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return websocket.StatusProtocolError, "that was no frame of a WebSocket client"
	}
	switch l.why {
	case conn.Overrun:
		return websocket.StatusPolicyViolation, link.ErrBackpressure.Error()
	case conn.ServerStops:
		return websocket.StatusGoingAway, "the server is stopping: call again in a moment"
	case conn.Moves:
		return websocket.StatusGoingAway, "the call goes on over another connection"
	case conn.ByClient, conn.GraceOver, conn.Failed, conn.TimeLimit: // an error event has told the client, or nobody needs to be told
	}
	return websocket.StatusNormalClosure, ""
}
