package call

import (
	"errors"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/coord/conn"
)

// Side-band controllers: who controls a call from the side, and over which connection.

// SidebandController controls a call from the side, over a WebSocket of its own, while the call's client talks. It is safe for
// concurrent use.
type SidebandController struct {
	// Rules reports that it may change what is locked.
	Rules bool
	// Answer gives it an event that is for it alone, because it asked for it or made a mistake. It does not block.
	Answer func(e Event)

	extended atomic.Bool
}

// Extended reports whether it has said that it knows our extensions (antiphon.hello): their events are for it, too.
func (c *SidebandController) Extended() bool { return c.extended.Load() }

// SetExtended notes that it knows our extensions.
func (c *SidebandController) SetExtended() { c.extended.Store(true) }

// SidebandLink is the connection of a side-band controller. ws.Link is one.
type SidebandLink interface {
	// Send is Link.Send.
	Send(e Event, sent func()) error
	// End says that nothing more will be sent. What waits is still written; then the connection closes.
	End()
	// Cut ends the connection of a controller that does not read: what waits is dropped.
	Cut()
	// ExplainClose is CloseExplainer.ExplainClose.
	ExplainClose(why conn.Reason)
}

// Sideband is a side-band controller with its connection: see Hub.Join.
type Sideband struct {
	// Controller is who controls the call, as the session sees it.
	Controller SidebandController

	link SidebandLink
	gone chan struct{} // closed when nothing of the connection is left
}

// NewSideband returns a controller that has not joined. rules says that no lock holds it.
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
