package rtc

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// The state of the connection: turns pion's states into Lost, Restored and Failed, and reads the client's RTCP reports.

// await waits until all addresses of the server are known, at most for Config.Gather: the answer then has those found so far. No client
// connects by an answer without an address, so await waits for the first one, at most for Config.Connect.
func (p *Peer) await(ctx context.Context, gathered <-chan struct{}) error {
	limit := time.NewTimer(p.engine.cfg.Gather)
	defer limit.Stop()
	none := time.NewTimer(p.engine.cfg.Connect)
	defer none.Stop()
	found := make(chan struct{}, 1)
	p.pc.OnICECandidate(func(*webrtc.ICECandidate) { signal(found) })
	for late := false; !late || !strings.Contains(p.pc.LocalDescription().SDP, "a=candidate:"); {
		select {
		case <-gathered:
			return nil
		case <-limit.C:
			late = true
		case <-found:
		case <-none.C:
			return fmt.Errorf("rtc: answer: this machine's addresses are not known after %v", p.engine.cfg.Connect)
		case <-ctx.Done():
			return fmt.Errorf("rtc: answer: %w", ctx.Err())
		}
	}
	return nil
}

// watch reports the connection's states to the Handler until the call fails or is closed. pion reports each change on a goroutine
// of its own, in no order. So a change only wakes watch, which reads the state as it is now.
func (p *Peer) watch() {
	limit := time.NewTimer(p.engine.cfg.Connect)
	defer limit.Stop()
	connected := false // the connection has stood
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
					link.ErrUnreachable, p.engine.cfg.Connect))
			}
		case <-p.link.Changed():
			connected = p.changeTo(p.link.State(), connected)
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
		p.fail(fmt.Errorf("%w: its network answers no more", link.ErrUnreachable))
	case webrtc.PeerConnectionStateClosed:
		p.fail(link.ErrHungUp)
	case webrtc.PeerConnectionStateUnknown, webrtc.PeerConnectionStateNew, webrtc.PeerConnectionStateConnecting:
		// The connection is being set up: watch has a limit for that.
	}
	return connected
}

// reachability notes what the peer has told the Handler about the client. The goroutine that holds the token may read and change it. It
// calls the Handler while it holds the token, so that Lost and Restored come in order.
type reachability struct {
	token chan struct{}
	stood bool // the connection has stood
	lost  bool // Lost was reported, and not yet Restored
	// paths counts the network paths that pion has chosen. Only once it has reached awaited, the client can be reachable: an ICE restart
	// drops the path before at once.
	paths   *atomic.Int64
	awaited int64
}

func newReachability() reachability {
	return reachability{token: make(chan struct{}, 1), paths: &atomic.Int64{}}
}

// enter takes the token. It reports false if the peer closes. The caller gives the token back with leave.
func (r *reachability) enter(stop <-chan struct{}) bool {
	select {
	case r.token <- struct{}{}:
		return true
	case <-stop:
		return false
	}
}

func (r *reachability) leave() { <-r.token }

// reachable tells the Handler when the client becomes reachable or unreachable. An incoming packet marks the connection as
// restored before pion does: so no speech is lost on a session that takes the client for unreachable.
func (p *Peer) reachable(now bool) {
	r := &p.reach
	if !r.enter(p.life.stop) {
		return
	}
	defer r.leave()
	if now && r.paths.Load() < r.awaited {
		return
	}
	r.stood = r.stood || now
	if r.lost != now {
		return
	}
	r.lost = !now
	if now {
		p.handler.Restored()
	} else {
		p.pathLost()
		p.handler.Lost()
	}
}

// changePath tells the Handler that the client is lost until pion has chosen another network path. A client restarts a call because its
// path has failed, which it may notice long before this side does.
func (p *Peer) changePath() {
	r := &p.reach
	if !r.enter(p.life.stop) {
		return
	}
	defer r.leave()
	r.awaited = r.paths.Load() + 1
	if r.stood && !r.lost {
		r.lost = true
		p.pathLost()
		p.handler.Lost()
	}
}

// keepPath takes back changePath: the path has stayed as it was.
func (p *Peer) keepPath() {
	if p.reach.enter(p.life.stop) {
		p.reach.awaited = 0
		p.reach.leave()
		p.link.Wake()
	}
}

// wasCut tells the Handler that the network was cut for a short time. It has been back since this moment, and nobody has noticed it
// before.
func (p *Peer) wasCut(quiet time.Duration) {
	r := &p.reach
	if !r.enter(p.life.stop) {
		return
	}
	defer r.leave()
	if !r.stood || r.lost {
		return
	}
	p.output.CutSince(quiet + p.RoundTrip() + cutMargin)
	p.handler.Lost()
	p.handler.Restored()
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
				p.report(r.Reports)
			case *rtcp.SenderReport: // a client that sends audio sends these, too
				p.report(r.Reports)
			}
		}
	}
}
