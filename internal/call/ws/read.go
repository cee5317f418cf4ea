package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// The reading half of a connection: takes the client's events one by one, limits their size and rate.

// Receiver takes what comes from a client. Its functions are called from one goroutine of the link.
type Receiver struct {
	// Message takes one message. text is false for a binary one. The receiver may keep data.
	Message func(data []byte, text bool)
	// AwaitHandled returns when nobody keeps the messages that Message got before, or when stop is closed. It bounds the memory of large
	// messages, and how many events come before a large answer counts; nil does not wait.
	AwaitHandled func(stop <-chan struct{})
	// Tab is what the limiter of the client's events counts.
	Tab *link.EventTab
	// Refuse answers a message that was not taken, with an error event of that code.
	Refuse func(code, message string)
	// Gone reports that the connection has ended and why: link.ErrHungUp or link.ErrUnreachable, wrapped.
	Gone func(err error)
}

// Accept answers a request for a WebSocket with the given subprotocol. The connection reads as many frames as the limits allow. After an
// error Accept has written the response.
func Accept(w http.ResponseWriter, r *http.Request, subprotocol string, limits Limits) (*websocket.Conn, error) {
	conn, err := websocket.Accept(metered(w, limits), r, &websocket.AcceptOptions{
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
	limiter := link.NewEventLimiter(l.limits.Env, l.limits.EventsPerSecond, to.Tab, to.Refuse)
	for {
		kind, reader, err := l.conn.Reader(ctx)
		if err != nil {
			l.lost(err, to)
			return
		}
		m, err := l.readMessage(reader)
		if err == nil && m.refused != "" {
			to.Refuse(m.refused, m.why)
		}
		if err == nil {
			alone := limiter.Wait(int(m.size), ctx.Done())
			if m.refused == "" {
				to.Message(m.text, kind == websocket.MessageText)
				if (m.charged > 0 || alone) && to.AwaitHandled != nil {
					to.AwaitHandled(ctx.Done())
				}
			}
		}
		l.limits.Memory.Give(l.limits.Memory.Payer, m.charged)
		if err != nil {
			l.lost(err, to)
			return
		}
	}
}

// lost reports that the client's events have ended with err.
func (l *Link) lost(err error, to Receiver) {
	if breaksProtocol(err) {
		l.mu.Lock()
		l.broken = true
		l.mu.Unlock()
	}
	to.Gone(whyGone(err))
}

// breaksProtocol reports whether a read error says that the client's bytes are no WebSocket frames. The library has no type for such an
// error, so this is every error that is neither the end of the connection nor an error of the network.
func breaksProtocol(err error) bool {
	for _, ends := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, context.Canceled} {
		if errors.Is(err, ends) {
			return false
		}
	}
	var network net.Error
	return websocket.CloseStatus(err) < 0 && !errors.As(err, &network)
}

// message is the part of one message that was read so far.
type message struct {
	text    []byte
	size    int64  // the size in bytes, also of a message that was refused
	charged int64  // how much it has taken from the budget of large messages; the caller gives it back
	refused string // the code of the error if the message was not taken, and why
	why     string
}

// ownMessage is the size in bytes up to which each connection may send a message independently of the other connections.
const ownMessage = 256 << 10

// messageTimeout is how long a client may take to send a message above ownMessage. Its bytes are the server's memory.
const messageTimeout = 30 * time.Second

// readMessage reads one message. A message that is too large, or for which there is no memory, is read and discarded.
func (l *Link) readMessage(from io.Reader) (m message, err error) {
	limit := l.limits.MaxMessage
	own := min(limit, ownMessage)
	m.text, err = io.ReadAll(io.LimitReader(from, own+1))
	m.size = int64(len(m.text))
	if err != nil || m.size <= own {
		return m, err
	}
	late := time.AfterFunc(messageTimeout, func() { _ = l.conn.CloseNow() }) // the reader reports the end
	defer late.Stop()
	for err == nil && m.refused == "" && m.size <= limit {
		if m.charged == 0 || m.size == int64(cap(m.text)) {
			l.grow(&m)
			continue
		}
		var n int
		n, err = from.Read(m.text[m.size:min(int64(cap(m.text)), limit+1)])
		m.size += int64(n)
		m.text = m.text[:m.size]
	}
	if errors.Is(err, io.EOF) {
		return m, nil
	}
	if m.refused == "" && m.size > limit {
		m.refused, m.why = "message_too_large", fmt.Sprintf("an event may have %d bytes: send audio in smaller pieces", limit)
	}
	m.text = nil
	if err != nil {
		return m, err
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(from, 64*limit))
	m.size += rest
	return m, err
}

// grow doubles the room of a message and charges that to the budget. If the budget has too little, it refuses the message.
func (l *Link) grow(m *message) {
	room := min(2*int64(cap(m.text)), l.limits.MaxMessage+1)
	if l.limits.Memory.Take(l.limits.Memory.Payer, room-m.charged) != nil {
		m.refused = "server_busy"
		m.why = fmt.Sprintf("there is no memory for events above %d bytes now, of all or of your share: send audio in smaller pieces", ownMessage)
		return
	}
	m.charged = room
	m.text = append(make([]byte, 0, room), m.text...)
}

// whyGone turns the end of a connection into an error of package call: a client that closed it has hung up, and a client whose
// connection broke cannot be reached.
func whyGone(err error) error {
	if websocket.CloseStatus(err) < 0 {
		return fmt.Errorf("%w: %w", link.ErrUnreachable, err)
	}
	return fmt.Errorf("%w: %w", link.ErrHungUp, err)
}
