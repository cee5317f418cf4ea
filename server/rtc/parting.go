package rtc

import (
	"time"

	"github.com/pion/datachannel"
	"github.com/pion/webrtc/v4"
)

const (
	// farewell bounds how long the end of a call waits for its client to take leave.
	farewell = time.Second
	// linger is how long the connection stands after that. SCTP's abort overtakes the packet that tells the client that we know; without
	// it, the client's channel is not closed yet and fails.
	linger = 100 * time.Millisecond
)

// line is the open channel of events.
type line struct {
	raw     datachannel.ReadWriteCloserDeadliner
	written chan struct{} // closed when nothing more is written
	read    chan struct{} // closed when nothing more is read
}

// part ends the channel of events before the connection ends: the client gets what waits for it, and then sees a channel that was
// closed. One that sees only the connection break takes that for a failure. A client that is gone is not waited for.
func (p *Peer) part() {
	p.mu.Lock()
	l := p.line
	p.mu.Unlock()
	if l == nil || p.pc.ConnectionState() != webrtc.PeerConnectionStateConnected {
		return
	}
	select {
	case <-l.read:
		return // it was the client who ended the call
	default:
	}
	limit := time.NewTimer(farewell)
	defer limit.Stop()
	select {
	case <-l.written:
	case <-limit.C:
		return
	}
	if err := l.raw.Close(); err != nil {
		return // the connection's end says why
	}
	select {
	case <-l.read: // the client has closed its half, too
	case <-limit.C:
		return
	}
	limit.Reset(linger)
	<-limit.C
}
