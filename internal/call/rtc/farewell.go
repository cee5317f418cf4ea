package rtc

import (
	"time"

	"github.com/pion/datachannel"
	"github.com/pion/webrtc/v4"
)

// The end of a call as its client sees it: the data channel closes before the connection ends.

// closeDelay is how long the connection stays open after the client has closed the data channel. SCTP's abort overtakes the packet
// which tells the client that the server knows that the channel is closed; without that packet the client's channel fails instead of
// closing.
const closeDelay = 100 * time.Millisecond

// eventChannel is the open data channel of events.
type eventChannel struct {
	raw     datachannel.ReadWriteCloserDeadliner
	written chan struct{} // closed when nothing more is written
	read    chan struct{} // closed when nothing more is read
}

// closeEventChannel closes the data channel before the connection ends: the client gets the events that wait, and then sees a
// channel that was closed. A client that only sees the connection break reports a failure. closeEventChannel does not wait for a
// client that is gone.
func (p *Peer) closeEventChannel() {
	c := p.taken.openChannel()
	if c == nil || p.link.State() != webrtc.PeerConnectionStateConnected {
		return
	}
	select {
	case <-c.read:
		return // the client ended the call
	default:
	}
	limit := time.NewTimer(p.engine.cfg.farewell)
	defer limit.Stop()
	select {
	case <-c.written:
	case <-limit.C:
		return
	}
	if err := c.raw.Close(); err != nil {
		return // the end of the connection says why
	}
	select {
	case <-c.read: // the client has closed its half, too
	case <-limit.C:
		return
	}
	limit.Reset(closeDelay)
	<-limit.C
}
