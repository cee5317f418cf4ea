package link

import (
	"errors"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/coord/conn"
)

// Side-band controllers: clients that control a call of another client, over a WebSocket.

// SidebandController is a client that controls a WebRTC call of another client, over its own WebSocket. It is safe for concurrent
// use.
type SidebandController struct {
	// Rules reports that it may change locked fields.
	Rules bool
	// Answer gives it an event for this controller alone: an answer to its own event, or an error. It does not block.
	Answer func(e Event)

	// Tab is what the limiter of its events counts. Hub.Join sets it.
	Tab *EventTab

	extended atomic.Bool
}

// Extended reports whether it has sent antiphon.hello, and so gets the events of our extensions, too.
func (c *SidebandController) Extended() bool { return c.extended.Load() }

// SetExtended notes that it has sent antiphon.hello.
func (c *SidebandController) SetExtended() { c.extended.Store(true) }

// SidebandLink is the connection of a side-band controller. ws.Link is one.
type SidebandLink interface {
	// Send is Link.Send.
	Send(e Event, sent func()) error
	// End says that nothing more will be sent. Queued events are still written; then the connection closes.
	End()
	// Cut ends the connection of a controller that does not read. Queued events are dropped.
	Cut()
	// ExplainClose is CloseExplainer.ExplainClose.
	ExplainClose(why conn.Reason)
}

// Sideband is a side-band controller with its connection: see Hub.Join.
type Sideband struct {
	// Controller is the part that the session uses.
	Controller SidebandController

	link SidebandLink
	gone chan struct{} // closed when nothing of the connection is left
}

// NewSideband returns a controller that has not joined. rules says that it may change locked fields.
func NewSideband(rules bool, link SidebandLink) *Sideband {
	s := &Sideband{link: link, gone: make(chan struct{})}
	s.Controller.Rules, s.Controller.Answer = rules, s.send
	return s
}

// send gives the controller an event. A controller that does not read is cut off.
func (s *Sideband) send(e Event) {
	if errors.Is(s.link.Send(e, nil), ErrBackpressure) {
		s.link.Cut()
	}
}
