package call

import "sync/atomic"

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
