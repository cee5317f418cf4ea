package rtc

import (
	"context"
	"fmt"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/call"
)

// await waits for our own addresses to be complete, at most Config.Gather: the answer then has those found.
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

// watch turns the connection's states into what the handler hears of it, until the call fails or is closed. pion
// reports each change on a goroutine of its own, in no order: so a change only wakes watch, which reads the
// state as it is now.
func (p *Peer) watch() {
	limit := time.NewTimer(p.engine.cfg.Connect)
	defer limit.Stop()
	var link link
	for {
		select {
		case <-p.stop:
			return
		case err := <-p.fatal:
			if !p.closing() {
				p.handler.Failed(err)
			}
			return
		case <-limit.C:
			if !link.connected {
				p.fail(fmt.Errorf("%w: no connection after %v; UDP must get through to the addresses of the answer",
					call.ErrUnreachable, p.engine.cfg.Connect))
			}
		case <-p.changed:
			p.step(&link, p.pc.ConnectionState())
		}
	}
}

// link is what watch remembers of the connection.
type link struct {
	connected bool // it was, once
}

// reachable tells the handler when that changes. Whatever comes of the caller shows that it is back, before pion looks: what is said
// in between is not lost on a session that takes it for unreachable.
func (p *Peer) reachable(now bool) {
	p.reach.Lock()
	defer p.reach.Unlock()
	if p.lost != now {
		return
	}
	p.lost = !now
	if now {
		p.handler.Restored()
	} else {
		p.handler.Lost()
	}
}

func (p *Peer) step(l *link, state webrtc.PeerConnectionState) {
	switch state {
	case webrtc.PeerConnectionStateConnected:
		if !l.connected {
			l.connected = true
			p.start(func() { p.pacer.run(p.stop) })
			if !p.offer.events {
				p.handler.Opened()
			}
		}
		p.reachable(true)
	case webrtc.PeerConnectionStateDisconnected:
		if l.connected {
			p.reachable(false)
		}
	case webrtc.PeerConnectionStateFailed:
		p.fail(fmt.Errorf("%w: its network answers no more", call.ErrUnreachable))
	case webrtc.PeerConnectionStateClosed:
		p.fail(call.ErrHungUp)
	case webrtc.PeerConnectionStateUnknown, webrtc.PeerConnectionStateNew, webrtc.PeerConnectionStateConnecting:
		// On the way: watch has a limit for that.
	}
}

// feedback reads RTCP, which the reports and retransmissions live on, and notes what the client says about our audio.
func (p *Peer) feedback(read rtcpRead) {
	buf := make([]byte, maxUDP)
	for {
		n, _, err := read(buf)
		if err != nil {
			return // the transport is closed
		}
		packets, err := rtcp.Unmarshal(buf[:n])
		if err != nil {
			continue // a stranger's garbage; the next packet may be sound
		}
		for _, packet := range packets {
			switch r := packet.(type) {
			case *rtcp.ReceiverReport:
				p.counts.report(r.Reports, time.Now())
			case *rtcp.SenderReport: // of one that speaks too
				p.counts.report(r.Reports, time.Now())
			}
		}
	}
}
