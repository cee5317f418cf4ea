package sdk

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// What a peer reports for barge-in: the findings of its detector, and positions that its playback has passed.

// speechOnset makes a candidate of a speech onset over the agent.
func (s *Session) speechOnset(e SpeechOnset) {
	in := &s.barge
	if s.audio.Muted || !s.server.session.interrupts || s.phase != phaseLive || in.pending() != 0 {
		return
	}
	begins := false // the response was at full level until now
	switch in.state().(type) {
	case bargein.Silent, bargein.Closed:
		return
	case bargein.Playing, bargein.Ducked, bargein.Silenced, bargein.Restored:
		begins = true
		in.full, in.fullKnown = in.positionOf(e)
	case bargein.Unanswered:
		if in.responses.playing == 0 {
			return
		}
	}
	in.candidate++
	in.stats.candidateBegan(s.clock.Now())
	in.suspects = s.dialog.expect(view.Candidate{}, "", verdictTime, s.clock.Now())
	at, known := in.positionOf(e)
	n := in.playout.number(at, known)
	if begins {
		in.playout.pinned = n // the machine keeps this number until the response is at full level again
	}
	s.bargeIn(bargein.Onset{Candidate: in.candidate, At: n})
}

// positionOf returns the position at which the user heard the response when the speech began.
func (in *bargeInDriver) positionOf(e SpeechOnset) (at PlayedPosition, known bool) {
	if e.Known && in.playout.ducker != nil {
		return e.At, true
	}
	return in.playout.here()
}

// speechSustained silences the agent where the server, or the Rewinder, can play the missed sound again.
func (s *Session) speechSustained() {
	in := &s.barge
	c := in.pending()
	if c == 0 {
		return
	}
	in.lasts, s.dirty = s.dialog.expect(view.Interrupt{}, "", verdictTime, s.clock.Now()), true
	if in.serverTakes || in.playout.rewinder != nil {
		s.bargeIn(bargein.Sustained{Candidate: c})
	}
}

// speechEnded tells the machine that the speech of the pending candidate has ended.
func (s *Session) speechEnded() {
	if c := s.barge.pending(); c != 0 {
		s.dialog.drop(s.barge.lasts)
		s.bargeIn(bargein.VoiceEnded{Candidate: c})
	}
}

// positionPassed tells the machine that the user has heard the awaited position.
func (s *Session) positionPassed(at PlayedPosition) {
	in := &s.barge
	if c := in.awaits; c != 0 && at == in.awaited && in.machine != nil {
		in.awaits = 0
		s.bargeIn(bargein.Passed{Candidate: c})
	}
}

// verdictTimedOut gives up a candidate without a verdict. Where the client plays the sound itself, that is a rejection, since
// nothing else is to come.
func (s *Session) verdictTimedOut() {
	in := &s.barge
	in.due = Never
	if in.machine == nil {
		return
	}
	if in.pending() == in.dueOf {
		in.stats.expired(s.clock.Now())
	}
	s.bargeIn(bargein.Expired{Candidate: in.dueOf})
	if in.playout.rewinder != nil {
		s.bargeIn(bargein.Rejected{Candidate: in.dueOf})
	}
}
