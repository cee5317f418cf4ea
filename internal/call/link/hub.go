package link

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// The hub: one link for all connections of a call, its side-band controllers, and the reconnecting of its client.

// MaxControllers is how many side-band controllers a call has at most at a time.
const MaxControllers = 8

// extensionPrefix begins the types of our extension events. Only clients that have sent antiphon.hello get them.
const extensionPrefix = "antiphon."

// Errors of a Hub.
var (
	// ErrNotControllable means that the call has ended, or that its client plays the audio by itself (WebSocket).
	ErrNotControllable = errors.New("call cannot be controlled from the side")
	// ErrTooManyControllers means that MaxControllers control the call already.
	ErrTooManyControllers = errors.New("too many connections control the call")
	// ErrNotReconnectable means that the call has ended, or that its client has not said that it can reconnect.
	ErrNotReconnectable = errors.New("call cannot be reconnected")
	// ErrReconnecting means that another request reconnects the client at the moment.
	ErrReconnecting = errors.New("client is reconnecting already")
	// ErrReplayLost means that events which the client has not seen are forgotten.
	ErrReplayLost = errors.New("events that the client has not seen are forgotten")
)

// Connection is one connection of a call's client.
type Connection interface {
	Link
	// Abandon ends a connection whose client is gone: it does not wait for a close message of the client. It joins the
	// connection's goroutines and returns the sent functions (see Link.Send) of the events that were not written.
	Abandon() (unsent []func())
}

// Hub is the link of a call: it sends the session's events to the client, over the connection of the moment, and to the
// side-band controllers. While the client is away it keeps the events. It implements Link, Shared, Reconnectable, RoundTripper
// and CloseExplainer, and is safe for concurrent use.
type Hub struct {
	env    env.Env
	output Output // nil for a client that plays the audio by itself
	// reconnects says whether the client can reconnect.
	reconnects func() bool

	mu           sync.Mutex
	connection   Connection // nil while the client is away
	can          Capabilities
	former       chan struct{} // closed when nothing of any former connection is left
	unsent       []func()      // sent functions of the events that wait while the client is away
	replay       replayBuffer
	reconnecting chan struct{} // closed when the request that reconnects the client is done; nil if there is none
	commit       commit
	sidebands    []*Sideband   // at most MaxControllers, in the order in which they joined
	tabs         []*EventTab   // those of controllers that have left; with those of sidebands at most MaxControllers
	session      *wire.Session // the session object in the last session.created or session.updated; nil before
	closed       bool
}

// NewHub returns the hub of a call that begins on connection c. reconnects says whether the client can reconnect; it is called
// with the hub's lock held.
func NewHub(e env.Env, c Connection, reconnects func() bool) *Hub {
	h := &Hub{env: e, output: c.Output(), reconnects: reconnects, former: make(chan struct{})}
	close(h.former)
	h.replay, h.commit.memory = newReplayBuffer(h.output == nil), unlimited{}
	h.connection, h.can = c, Resolve(c)
	return h
}

// ShareMemory charges these for the events that wait to be stored, and for those that are kept for a client that reconnects, until Close. Of each, OwnWithheld or OwnReplay bytes
// are the call's own.
func (h *Hub) ShareMemory(waiting, kept Memory) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commit.memory = waiting
	events := h.replay.events
	h.replay.events, h.replay.bytes, h.replay.memory = nil, 0, kept
	for _, e := range events {
		h.replay.add(e, true)
	}
}

func (h *Hub) Output() Output { return h.output }

func (h *Hub) RoundTrip() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.can.RoundTripper != nil {
		return h.can.RoundTripper.RoundTrip()
	}
	return 0
}

// Send implements Link. A side-band controller that does not read is cut off, and the call goes on.
func (h *Hub) Send(e Event, sent func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	extension := strings.HasPrefix(e.Type, extensionPrefix)
	if !extension || h.reconnects() {
		err = h.sendToClient(e, sent)
	}
	if e.Session != nil {
		h.session = e.Session
	}
	for _, s := range h.sidebands {
		if !extension || s.Controller.Extended() {
			s.send(e)
		}
	}
	return err
}

func (h *Hub) SendToPrimary(e Event, sent func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sendToClient(e, sent)
}

// sendToClient sends e over the connection once it is stored, or keeps it for a client that is away. The caller holds mu.
func (h *Hub) sendToClient(e Event, sent func()) error {
	if waits, err := h.commit.withhold(e, sent, h.reconnects()); waits || err != nil {
		return err
	}
	return h.pass(e, sent)
}

// pass sends e over the connection, or keeps it for a client that is away. The caller holds mu.
func (h *Hub) pass(e Event, sent func()) error {
	err := ErrUnreachable
	if h.connection != nil {
		err = h.connection.Send(e, sent)
	}
	if errors.Is(err, ErrUnreachable) && h.reconnects() { // the client is away, or is about to be
		err = nil
		if sent != nil {
			h.unsent = append(h.unsent, sent)
		}
	}
	if h.connection != nil {
		h.replay.forgetSeen(h.env.Now())
	}
	h.replay.add(e, h.reconnects())
	return err
}

// Join lets s receive all events from now on. Its first event is session.created, as for every client, with the present
// session object. Errors: ErrNotControllable, ErrTooManyControllers. After a nil error the caller calls Leave.
func (h *Hub) Join(s *Sideband) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed || h.output == nil:
		return ErrNotControllable
	case len(h.sidebands) >= MaxControllers:
		return ErrTooManyControllers
	}
	h.sidebands = append(h.sidebands, s)
	if n := len(h.tabs); n > 0 { // that of a controller that has left: perhaps it is this one again
		s.Controller.Tab, h.tabs = h.tabs[n-1], h.tabs[:n-1]
	} else {
		s.Controller.Tab = new(EventTab)
	}
	if h.session != nil {
		hello := &wire.SessionCreated{Session: *h.session}
		hello.SetID(h.env.NewID("event_"))
		_ = s.link.Send(Encode(hello), nil) // its queue is empty
	}
	return nil
}

// Leave ends what Join began, once nothing of the controller's connection is left.
func (h *Hub) Leave(s *Sideband) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sidebands = slices.DeleteFunc(h.sidebands, func(other *Sideband) bool { return other == s })
	h.tabs = append(h.tabs, s.Controller.Tab)
	close(s.gone)
}

func (h *Hub) DropConnection() { h.Detach() }

// Detach is DropConnection. gone is closed when nothing of any former connection is left.
func (h *Hub) Detach() (gone <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	connection, before, now := h.connection, h.former, make(chan struct{})
	if connection == nil {
		return before
	}
	h.connection, h.can, h.former = nil, Capabilities{}, now
	h.env.Go(func() {
		defer close(now)
		unsent := connection.Abandon()
		<-before
		h.mu.Lock()
		defer h.mu.Unlock()
		h.unsent = append(unsent, h.unsent...)
	})
	return now
}

// Reserve reserves the call for a client that reconnects and has seen the event with the id seen ("" for none). Errors:
// ErrNotReconnectable, ErrReconnecting, ErrReplayLost. After a nil error the caller calls Unreserve.
func (h *Hub) Reserve(seen string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, kept := h.replay.after(seen)
	switch {
	case h.closed || !h.reconnects():
		return ErrNotReconnectable
	case h.reconnecting != nil:
		return ErrReconnecting
	case !kept:
		return ErrReplayLost
	}
	h.reconnecting = make(chan struct{})
	return nil
}

// Unreserve ends what Reserve began.
func (h *Hub) Unreserve() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.reconnecting)
	h.reconnecting = nil
}

// Reserved returns a channel that closes when the request is done for which the call is reserved; nil if it is not reserved.
func (h *Hub) Reserved() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reconnecting
}

// Attach gives the client another connection and first sends the events after the one with the id seen over it. It reports
// false if the call has ended meanwhile or the connection is gone already.
func (h *Hub) Attach(c Connection, seen string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	events, kept := h.replay.after(seen)
	if h.closed || h.connection != nil || !kept {
		return false
	}
	unsent := h.unsent
	allSent := func() {
		for _, sent := range unsent {
			sent()
		}
	}
	for i, e := range events {
		var sent func()
		if i == len(events)-1 {
			sent = allSent
		}
		if c.Send(e, sent) != nil {
			return false
		}
	}
	if len(events) == 0 {
		allSent() // no event is on its way whose sending could call it
	}
	h.connection, h.can, h.unsent = c, Resolve(c), nil
	h.replay.old, h.replay.since = 0, h.env.Now() // the new connection may not carry them
	return true
}

// Kept returns the size of the events that are kept for a client that reconnects, in bytes.
func (h *Hub) Kept() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.replay.bytes
}

// Connected reports whether the client has a connection at the moment.
func (h *Hub) Connected() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.connection != nil
}

func (h *Hub) ExplainClose(why conn.Reason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.can.CloseExplainer != nil {
		h.can.CloseExplainer.ExplainClose(why)
	}
	for _, s := range h.sidebands {
		s.link.ExplainClose(why)
	}
}

// Close implements Link: the call has ended, and its side-band connections end with it.
func (h *Hub) Close() error {
	h.awaitCommit()
	h.mu.Lock()
	h.closed = true
	h.commit.memory.Close()
	h.replay.memory.Close()
	connection, former := h.connection, h.former
	left := slices.Clone(h.sidebands)
	for _, s := range left {
		s.link.End()
	}
	h.mu.Unlock()
	var err error
	if connection != nil {
		err = connection.Close()
	}
	<-former
	for _, s := range left {
		<-s.gone
	}
	return err
}

var (
	_ Shared         = (*Hub)(nil)
	_ Reconnectable  = (*Hub)(nil)
	_ CloseExplainer = (*Hub)(nil)
	_ RoundTripper   = (*Hub)(nil)
)
