package sdk

// Push-to-talk, and turns that end by hand.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
)

// soundTail is how long the last sound may still be under way after the end of push-to-talk, where sound and events take
// different paths.
const soundTail = 150 * time.Millisecond

// manualTurn is a turn that the user or the application ends by hand.
type manualTurn struct {
	keyDown bool
	presses uint64 // counts how often the key was pressed, so that a timer of an earlier press changes nothing
	pushed  bool   // push-to-talk made the last commit
	// committing: the turn was ended by hand, and the server has not taken it yet.
	committing bool
}

// StartTalking opens the microphone, as a pressed key does. Where turns end by hand (TurnDetection.Manual) it begins a turn: it
// interrupts the agent, and the server drops the sound that came before. Errors: ErrNotConnected, ErrReconnecting.
func (s *Session) StartTalking() error { return s.act(s.startTalking, false) }

// StopTalking closes the microphone, as a released key does. Where turns end by hand it ends the turn and asks for an answer. A
// turn without sound is no turn and no error. A turn during which the connection was lost is dropped.
func (s *Session) StopTalking() { s.queue.must(s.job(s.stopTalking)) }

// turnsEndByHand reports whether the application or the user ends each turn.
func (s *Session) turnsEndByHand() bool {
	return s.opts.TurnDetection != nil && s.opts.TurnDetection.Manual
}

// startTalking presses the key.
func (s *Session) startTalking() {
	if s.manual.keyDown {
		return
	}
	again := s.dialog.PushToTalk // the end of the last turn is not sent yet: the turn goes on
	s.manual.keyDown = true
	s.manual.presses++
	if s.turnsEndByHand() && !again {
		s.interrupt()
		s.send("input_audio_buffer.clear", newJSON(), outgoing.Intent{Kind: outgoing.Clear})
		s.dialog.PushToTalk = true
	}
	s.setMuted(false)
	s.dirty = true
}

// stopTalking releases the key.
func (s *Session) stopTalking() {
	if !s.manual.keyDown {
		return
	}
	s.manual.keyDown = false
	s.setMuted(true)
	s.dirty = true
	if !s.dialog.PushToTalk || s.phase != phaseLive {
		s.dialog.PushToTalk = false
		return
	}
	if _, plays := s.call.peer.(Player); plays { // sound and events take the same path
		s.endTalk()
		return
	}
	c, n := s.call, s.manual.presses
	s.clock.AfterFunc(soundTail, func() {
		s.queue.must(s.job(func() {
			if s.call == c && s.manual.presses == n && s.dialog.PushToTalk {
				s.endTalk()
			}
		}))
	})
}

// endTalk commits the turn once all of its sound is sent.
func (s *Session) endTalk() {
	s.dialog.PushToTalk = false
	if s.phase == phaseLive {
		s.commit()
		s.manual.pushed = true
	}
}
