package sdk

import "time"

// talkTail is how long after the end of push-to-talk the last of its sound may be under way, where sound and events take
// different paths.
const soundTail = 150 * time.Millisecond

// pushToTalk is push-to-talk.
type pushToTalk struct {
	on  bool   // the key is down
	nth uint64 // counts the ends, so that a key that is down again is known
}

// StartTalking opens the microphone, as a key that is held down does. Where turns end by hand (TurnDetection.Manual) it begins
// one: the agent is interrupted, and what was heard before is left out. Errors: ErrNotConnected, ErrReconnecting.
func (s *Session) StartTalking() error { return s.act(s.startTalking, false) }

// StopTalking closes the microphone, as a key that is let go does. Where turns end by hand it ends the turn and asks for an answer; a
// turn without sound is none, and no error, and one that the link was lost in is dropped.
func (s *Session) StopTalking() { s.queue.must(s.job(s.stopTalking)) }

// manual: turns end by hand.
func (s *Session) manual() bool { return s.opts.TurnDetection != nil && s.opts.TurnDetection.Manual }

func (s *Session) startTalking() {
	if s.key.on {
		return
	}
	again := s.dialog.pushToTalk // its end is under way: it goes on
	s.key.on = true
	s.key.nth++
	if s.manual() && !again {
		s.interrupt()
		s.send("input_audio_buffer.clear", newJSON(), intent{kind: intentClear})
		s.dialog.pushToTalk = true
	}
	s.setMuted(false)
	s.dirty = true
}

func (s *Session) stopTalking() {
	if !s.key.on {
		return
	}
	s.key.on = false
	s.setMuted(true)
	s.dirty = true
	if !s.dialog.pushToTalk || s.phase != phaseLive {
		s.dialog.pushToTalk = false
		return
	}
	if _, plays := s.call.peer.(Player); plays { // its sound goes the same way as its events
		s.endTalk()
		return
	}
	c, n := s.call, s.key.nth
	s.clock.AfterFunc(soundTail, func() {
		s.queue.must(s.job(func() {
			if s.call == c && s.key.nth == n && s.dialog.pushToTalk {
				s.endTalk()
			}
		}))
	})
}

func (s *Session) endTalk() {
	s.dialog.pushToTalk = false
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
	s.queue.must(s.job(func() {
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
