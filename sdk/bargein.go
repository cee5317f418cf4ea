package sdk

// What the session does for the prediction of barge-ins (sdk/internal/bargein) at the agent's sound, and at the server.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/bargein"
	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
)

// peerKey identifies a peer by its call and dial. Two interface values would be compared by whatever they hold.
type peerKey struct{ call, dial uint64 }

// agentSound is the agent's sound on one peer.
type agentSound struct {
	bound    peerKey // the peer; zero without a call
	ducker   Ducker  // at most one of the two is set
	rewinder Rewinder
	gain     float32 // what the prediction has set last
	// stopBy is when the agent is audible again although the server has not stopped it as the user asked; Never while it is audible. It does not count while
	// the connection is lost.
	stopBy time.Duration
}

// soundOf returns the sound of a peer; nil is none.
func soundOf(p Peer, key peerKey) agentSound {
	if r, ok := p.(Rewinder); ok {
		if _, plays := p.(Player); plays {
			return agentSound{bound: key, rewinder: r, gain: 1, stopBy: Never}
		}
	}
	d, _ := p.(Ducker)
	return agentSound{bound: key, ducker: d, gain: 1, stopBy: Never}
}

func (a *agentSound) setGain(gain float32) {
	a.gain = gain
	if a.stopBy != Never {
		gain = 0
	}
	if a.ducker != nil {
		a.ducker.SetGain(gain)
	} else if a.rewinder != nil {
		a.rewinder.SetGain(gain)
	}
}

// stop keeps the agent silent until the server has stopped it, or until a time: Ducker.Mute alone ends in a silence, and the server may still send sound of the response after one, for
// example after a rejected candidate.
func (a *agentSound) stop(by time.Duration) {
	if a.ducker != nil {
		a.stopBy = by
		a.ducker.SetGain(0)
	}
}

// stopped notes that the server sends no more of what was stopped. The rest that is under way is muted.
func (a *agentSound) stopped() {
	if a.stopBy == Never {
		return
	}
	a.stopBy = Never
	a.ducker.Mute()
	a.ducker.SetGain(a.gain)
}

// moment returns the time, and the position that the user hears now.
func (s *Session) moment() bargein.Moment {
	m := bargein.Moment{Now: s.clock.Now()}
	var at PlayedPosition
	switch {
	case s.sound.ducker != nil:
		at, m.Known = s.sound.ducker.Position()
	case s.sound.rewinder != nil:
		at, m.Known = s.sound.rewinder.Position()
	}
	m.At = playback.Position(at)
	return m
}

// bindPeer begins to predict for a new peer, and ends that for a peer that is gone.
func (s *Session) bindPeer() {
	var peer Peer
	var key peerKey
	if c := s.call; c != nil && c.peer != nil {
		peer, key = c.peer, peerKey{c.n, c.dial}
	}
	if s.sound.bound == key {
		return
	}
	s.bargeIn(s.barge.Close(s.moment()))
	s.sound = soundOf(peer, key)
	s.heard.spoken.NewTrack()
	s.barge.Bind(!s.opts.NoPrediction && (s.sound.ducker != nil || s.sound.rewinder != nil), s.sound.rewinder != nil)
	if peer == nil {
		s.dialog.Tell(view.Ended{})
	} else if s.audio.Volume != 1 {
		s.applyVolume(peer)
	}
}

// bargeIn does what the prediction asks for.
func (s *Session) bargeIn(actions []bargein.Action) {
	now := s.clock.Now()
	for _, a := range actions {
		switch a.Do {
		case bargein.Duck:
			s.sound.setGain(s.opts.duckedGain())
		case bargein.Silence:
			s.sound.setGain(0)
		case bargein.Restore:
			s.sound.setGain(1)
		case bargein.Hold:
			s.sound.rewinder.Hold()
		case bargein.Resume:
			s.sound.rewinder.Resume(PlayedPosition(a.At))
		case bargein.Await:
			s.sound.ducker.AwaitPosition(PlayedPosition(a.At))
		case bargein.Mute:
			if s.sound.ducker != nil {
				s.sound.ducker.Mute()
			} else {
				s.stopPlayer()
			}
		case bargein.SendCandidate:
			s.barge.Reported(a.Candidate, s.report("antiphon.barge_in.candidate", a))
		case bargein.SendReady:
			s.report("antiphon.barge_in.ready", a)
		case bargein.SendHeard:
			s.report("antiphon.barge_in.heard", a)
		case bargein.ExpectVerdict:
			s.dialog.ExpectVerdict(bargein.VerdictTime, now)
		case bargein.ExpectInterruption:
			s.dialog.ExpectInterruption(bargein.VerdictTime, now)
		case bargein.SpeechOver:
			s.dialog.SpeechEnded()
		case bargein.NotConfirmed:
			s.dialog.NotConfirmed()
		case bargein.Rejected:
			s.dialog.Rejected()
		}
	}
	s.dirty = s.dirty || len(actions) > 0
}

// report sends an event about a barge-in and returns its id. What is not known of its position is left out.
func (s *Session) report(kind string, a bargein.Action) string {
	e := newJSON()
	if a.Candidate != 0 {
		e.Key("candidate").Int(int64(a.Candidate))
	}
	if a.Do != bargein.SendReady {
		e.Key("response_id").Text(a.Response)
	}
	if a.At.ItemID != "" {
		e.Key("item_id").Text(a.At.ItemID)
	}
	if a.At.Timestamp != 0 {
		e.Key("rtp_timestamp").Int(int64(a.At.Timestamp))
	}
	if a.At.MS != 0 {
		e.Key("heard_ms").Int(int64(a.At.MS))
	}
	return s.send(kind, e, outgoing.Intent{Kind: outgoing.Candidate})
}

// speechOnset takes a finding of the peer's detector.
func (s *Session) speechOnset(e SpeechOnset) {
	if s.audio.Muted || !s.server.session.interrupts || s.phase != phaseLive {
		return
	}
	m := s.moment()
	if e.Known && s.sound.ducker != nil {
		m.At, m.Known = playback.Position(e.At), true
	}
	s.bargeIn(s.barge.Onset(m))
}

// acknowledged takes antiphon.ack, the answer to an event that has no answer of its own: antiphon.hello, or a candidate.
func (s *Session) acknowledged(e *serverEvent) {
	s.machinesTold(e.machines)
	if e.resume != "" && s.call != nil { // a page cannot read the headers of a WebSocket
		s.call.resume.Token = e.resume
	}
	s.bargeIn(s.barge.Acknowledged(e.acknowledges, e.rtp, s.moment()))
}
