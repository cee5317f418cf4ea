package ws

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/server/call"
)

// The reading half of a connection: takes the client's events one by one, limits their size and rate.

// Receiver takes what comes from a client. Its functions are called from one goroutine of the link.
type Receiver struct {
	// Message takes one message. text is false for a binary one. The receiver may keep data.
	Message func(data []byte, text bool)
	// Refuse answers a message that was not taken, with an error event of that code.
	Refuse func(code, message string)
	// Gone reports that the connection has ended and why: call.ErrHungUp or call.ErrUnreachable, wrapped.
	Gone func(err error)
}

// Accept answers a request for a WebSocket with the given subprotocol. After an error it has written the response.
func Accept(w http.ResponseWriter, r *http.Request, subprotocol string) (*websocket.Conn, error) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // the caller has checked the origin by rules of its own
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1) // readMessage limits each message, so that a large one costs an error and not the call
	return conn, nil
}

// read takes the client's events until the connection ends.
func (l *Link) read(ctx context.Context, to Receiver) {
	limiter := call.NewEventLimiter(l.limits.Env, l.limits.EventsPerSecond, to.Refuse)
	for {
		kind, reader, err := l.conn.Reader(ctx)
		if err != nil {
			to.Gone(whyGone(err))
			return
		}
		text, size, err := l.readMessage(reader)
		if err != nil {
			to.Gone(whyGone(err))
			return
		}
		if text == nil {
			to.Refuse("message_too_large", fmt.Sprintf("an event may have %d bytes: send audio in smaller pieces", l.limits.MaxMessage))
		}
		limiter.Wait(int(size), ctx.Done())
		if text != nil {
			to.Message(text, kind == websocket.MessageText)
		}
	}
}

// readMessage reads one message and returns its text and its size in bytes. text is nil for a message above the limit.
func (l *Link) readMessage(from io.Reader) (text []byte, size int64, err error) {
	text, err = io.ReadAll(io.LimitReader(from, l.limits.MaxMessage+1))
	size = int64(len(text))
	if err == nil && size > l.limits.MaxMessage {
		var rest int64
		rest, err = io.Copy(io.Discard, io.LimitReader(from, 64*l.limits.MaxMessage))
		return nil, size + rest, err
	}
	return text, size, err
}

// whyGone turns the end of a connection into an error of package call: a client that closed it has hung up, and a client whose
// connection broke cannot be reached.
func whyGone(err error) error {
	if websocket.CloseStatus(err) < 0 {
		return fmt.Errorf("%w: %w", call.ErrUnreachable, err)
	}
	return fmt.Errorf("%w: %w", call.ErrHungUp, err)
}
