package sdk

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// The detector beside the microphone, and the playback, as the peer tells of them.

func (s *Session) voiceBegan(e VoiceBegan) {
	in := &s.interruption
	if s.muted || !s.session.interrupts || s.phase != phaseLive || in.pending() != 0 {
		return
	}
	switch in.state().(type) {
	case bargein.Silent, bargein.Closed:
		return
	case bargein.Playing, bargein.Ducked, bargein.Silenced, bargein.Restored:
		in.full = in.markOf(e)
	case bargein.Unanswered:
		if in.heard == 0 {
			return
		}
	}
	in.candidate++
	in.score.began(s.clock.Now())
	in.suspects = s.flow.expect(view.Candidate{}, "", verdictTime, s.clock.Now())
	s.bargeIn(bargein.Onset{Candidate: in.candidate, At: in.markOf(e)})
}

func (in *interruption) markOf(e VoiceBegan) bargein.Mark {
	if e.Known && in.out.lowerer != nil {
		return bargein.Mark(e.Mark)
	}
	return in.out.here()
}

// voiceLasted silences only what can be said again.
func (s *Session) voiceLasted() {
	in := &s.interruption
	c := in.pending()
	if c == 0 {
		return
	}
	in.lasts, s.dirty = s.flow.expect(view.Interrupt{}, "", verdictTime, s.clock.Now()), true
	if in.knows || in.out.holder != nil {
		s.bargeIn(bargein.Sustained{Candidate: c})
	}
}

func (s *Session) voiceEnded() {
	if c := s.interruption.pending(); c != 0 {
		s.flow.drop(s.interruption.lasts)
		s.bargeIn(bargein.VoiceEnded{Candidate: c})
	}
}

func (s *Session) markPassed(mark uint32) {
	in := &s.interruption
	if c := in.awaits; c != 0 && bargein.Mark(mark) == in.awaited && in.steps != nil {
		in.awaits = 0
		s.bargeIn(bargein.Passed{Candidate: c})
	}
}

// verdictOverdue gives a candidate up. Where the client plays the sound nothing is left to wait for after that.
func (s *Session) verdictOverdue() {
	in := &s.interruption
	in.due = Never
	if in.steps == nil {
		return
	}
	if in.pending() == in.dueOf {
		in.score.expired(s.clock.Now())
	}
	s.bargeIn(bargein.Expired{Candidate: in.dueOf})
	if in.out.holder != nil {
		s.bargeIn(bargein.Rejected{Candidate: in.dueOf})
	}
}
