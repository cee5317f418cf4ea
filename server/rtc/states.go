package rtc

import (
	"context"
	"fmt"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/call"
)

// The state of the connection: turns pion's states into Lost, Restored and Failed, and reads the client's RTCP reports.

// await waits until all addresses of the server are known, at most for Config.Gather: the answer then has those found so far.
func (p *Peer) await(ctx context.Context, gathered <-chan struct{}) error {
	limit := time.NewTimer(p.engine.cfg.Gather)
	defer limit.Stop()
	select {
	case <-gathered:
	case <-limit.C:
	case <-ctx.Done():
		return fmt.Errorf("rtc: answer: %w", ctx.Err())
	}
	return nil
}

// watch reports the connection's states to the Handler until the call fails or is closed. pion reports each change on a goroutine
// of its own, in no order. So a change only wakes watch, which reads the state as it is now.
func (p *Peer) watch() {
	limit := time.NewTimer(p.engine.cfg.Connect)
	defer limit.Stop()
	connected := false // it was, once
	for {
		select {
		case <-p.life.stop:
			return
		case err := <-p.fatal:
			p.handler.Failed(err)
			return
		case <-limit.C:
			if !connected {
				p.fail(fmt.Errorf("%w: no connection after %v; UDP must get through to the addresses of the answer",
					call.ErrUnreachable, p.engine.cfg.Connect))
			}
		case <-p.changed:
			connected = p.changeTo(p.pc.ConnectionState(), connected)
		}
	}
}

// changeTo acts on the connection's state. connected says whether the connection stood before; changeTo returns whether it has
// stood by now.
func (p *Peer) changeTo(state webrtc.PeerConnectionState, connected bool) bool {
	switch state {
	case webrtc.PeerConnectionStateConnected:
		if !connected {
			p.life.start(func() { p.pacer.run(p.life.stop) })
			if !p.offer.Events {
				p.handler.Opened()
			}
		}
		p.reachable(true)
		return true
	case webrtc.PeerConnectionStateDisconnected:
		if connected {
			p.reachable(false)
		}
	case webrtc.PeerConnectionStateFailed:
		p.fail(fmt.Errorf("%w: its network answers no more", call.ErrUnreachable))
	case webrtc.PeerConnectionStateClosed:
		p.fail(call.ErrHungUp)
	case webrtc.PeerConnectionStateUnknown, webrtc.PeerConnectionStateNew, webrtc.PeerConnectionStateConnecting:
		// The connection is being set up: watch has a limit for that.
	}
	return connected
}

// reachability notes what the peer has told the Handler about the client. The goroutine that holds the token may read and change it. It
// calls the Handler while it holds the token, so that Lost and Restored come in order.
type reachability struct {
	token chan struct{}
	lost  bool // Lost was reported, and not yet Restored
}

func newReachability() reachability { return reachability{token: make(chan struct{}, 1)} }

// reachable tells the Handler when the client becomes reachable or unreachable. An incoming packet marks the connection as
// restored before pion does: so no speech is lost on a session that takes the client for unreachable.
func (p *Peer) reachable(now bool) {
	select {
	case p.reach.token <- struct{}{}:
		defer func() { <-p.reach.token }()
	case <-p.life.stop:
		return
	}
	if p.reach.lost != now {
		return
	}
	p.reach.lost = !now
	if now {
		p.handler.Restored()
	} else {
		p.handler.Lost()
	}
}

// feedback reads RTCP packets until the transport closes. pion needs the reads for reports and retransmissions; feedback notes
// what the client reports about the outgoing audio.
func (p *Peer) feedback(read rtcpRead) {
	buf := make([]byte, maxUDP)
	for {
		n, _, err := read(buf)
		if err != nil {
			return // the transport is closed
		}
		packets, err := rtcp.Unmarshal(buf[:n])
		if err != nil {
			continue // garbage; the next packet may be sound
		}
		for _, packet := range packets {
			switch r := packet.(type) {
			case *rtcp.ReceiverReport:
				p.counts.report(r.Reports, time.Now())
			case *rtcp.SenderReport: // a client that sends audio sends these, too
				p.counts.report(r.Reports, time.Now())
			}
		}
	}
}
