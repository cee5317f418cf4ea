package sdk

import "time"

// talkTail is how long after the end of push-to-talk the last of its sound may be under way, where sound and events take
// different paths.
const talkTail = 150 * time.Millisecond

// talk is push-to-talk.
type talk struct {
	on  bool   // the key is down
	nth uint64 // counts the ends, so that a key that is down again is known
}

// StartTalking opens the microphone, as a key that is held down does. Where turns end by hand (TurnDetection.Manual) it begins
// one: the agent is interrupted, and what was heard before is left out. Errors: ErrNotConnected, ErrReconnecting.
func (s *Session) StartTalking() error { return s.act(s.startTalking, false) }

// StopTalking closes the microphone, as a key that is let go does. Where turns end by hand it ends the turn and asks for an answer; a
// turn without sound is none, and no error, and one that the link was lost in is dropped.
func (s *Session) StopTalking() { s.box.must(s.job(s.stopTalking)) }

// manual: turns end by hand.
func (s *Session) manual() bool { return s.opts.TurnDetection != nil && s.opts.TurnDetection.Manual }

func (s *Session) startTalking() {
	if s.talk.on {
		return
	}
	again := s.flow.talking // its end is under way: it goes on
	s.talk.on = true
	s.talk.nth++
	if s.manual() && !again {
		s.interrupt()
		s.send("input_audio_buffer.clear", newJSON(), intent{kind: intentClear})
		s.flow.talking = true
	}
	s.setMuted(false)
	s.dirty = true
}

func (s *Session) stopTalking() {
	if !s.talk.on {
		return
	}
	s.talk.on = false
	s.setMuted(true)
	s.dirty = true
	if !s.flow.talking || s.phase != phaseLive {
		s.flow.talking = false
		return
	}
	if _, plays := s.call.peer.(Player); plays { // its sound goes the same way as its events
		s.endTalk()
		return
	}
	c, n := s.call, s.talk.nth
	s.clock.AfterFunc(talkTail, func() {
		s.box.must(s.job(func() {
			if s.call == c && s.talk.nth == n && s.flow.talking {
				s.endTalk()
			}
		}))
	})
}

func (s *Session) endTalk() {
	s.flow.talking = false
	if s.phase == phaseLive {
		s.commit()
		s.pushed = true
	}
}

// SetVolume sets how loud the agent is, from 0 to 1, now and for the calls to come. Snapshot.Volume stays as it was where the
// platform cannot. Errors: ErrInvalid.
func (s *Session) SetVolume(volume float32) error {
	if !(volume >= 0 && volume <= 1) {
		return &Error{Kind: ErrInvalid, Detail: "a volume is between 0 and 1"}
	}
	s.box.must(s.job(func() {
		s.volume = volume
		if s.call != nil {
			s.applyVolume(s.call.peer)
		}
		s.dirty = true
	}))
	return nil
}

// applyVolume lets a peer play as loud as was asked for.
func (s *Session) applyVolume(p Peer) {
	v, can := p.(VolumeSetter)
	switch {
	case p == nil: // it is dialled
	case !can:
		s.volume = 1
	default:
		if err := v.SetVolume(s.volume); err != nil {
			s.trace("the volume cannot be set: " + err.Error())
			s.volume = 1
		}
	}
}
