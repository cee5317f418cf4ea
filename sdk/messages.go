package sdk

import (
	"errors"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/wire"
)

// serverSession is what the server has told of its session.
type serverSession struct {
	id, model string
	// answers: the server answers a turn by itself; interrupts: a turn interrupts the agent.
	answers, interrupts bool
	// transcribes: every turn gets a transcript, or word that there is none.
	transcribes bool
}

// message takes one event of the server's.
func (s *Session) message(data []byte) {
	e, err := wire.DecodeServer(data)
	if err != nil {
		refused, ok := errors.AsType[*wire.DecodeError](err)
		switch {
		case !ok:
			s.trace("a message was dropped")
		case refused.Code == wire.CodeUnknownEvent:
			s.trace("an event that this client does not know was left out")
		default:
			s.trace("a message that is no event of the protocol was dropped: " + refused.Code)
		}
		return
	}
	if s.call != nil {
		s.call.seen = e.ID()
	}
	if s.sessionEvent(e) || s.turnEvent(e) || s.itemEvent(e) {
		return
	}
	s.responseEvent(e)
}

// sessionEvent takes what is about the whole session. It reports whether e was.
func (s *Session) sessionEvent(e wire.ServerEvent) bool {
	switch e := e.(type) {
	case *wire.SessionCreated:
		s.sessionTold(&e.Session)
		if s.phase == phaseLost && s.call.recovery.afresh {
			s.renewed(&e.Session)
			break
		}
		s.greet(&e.Session)
		s.connected()
	case *wire.SessionUpdated:
		s.sessionTold(&e.Session)
	case *wire.ErrorEvent:
		s.refused(e.Error)
	case *wire.AntiphonAck:
		s.acknowledged(e)
	case *wire.AntiphonBargeInRejected:
		s.rejected(e.Candidate)
	case *wire.AntiphonTurnMetrics:
		s.dirty = s.meter.told(e) || s.dirty
	default:
		return false
	}
	return true
}

func (s *Session) sessionTold(told *wire.Session) {
	td := told.Audio.Input.TurnDetection
	s.session = serverSession{
		id: told.ID, model: told.Model,
		answers: td != nil && td.CreateResponse, interrupts: td != nil && td.InterruptResponse,
		transcribes: told.Audio.Input.Transcription != nil,
	}
	if _, on := s.flow.model.Confirmed.(view.Open); on {
		s.flow.tell(view.Configured{Interrupts: s.session.interrupts, Answers: s.session.answers}, 0)
	} else {
		s.flow.tell(view.Opened{Interrupts: s.session.interrupts, Answers: s.session.answers}, 0)
	}
	s.dirty = true
}

// turnEvent takes what is about the person's turn and the agent's sound.
func (s *Session) turnEvent(e wire.ServerEvent) bool {
	now := s.clock.Now()
	switch e := e.(type) {
	case *wire.InputAudioBufferSpeechStarted:
		it := s.items.open(e.ItemID, User)
		it.entry.Spoken = true
		s.flow.speechStarted(e.ItemID, now)
		if s.session.interrupts {
			s.cutOff(s.interruption.lastHeard(), true)
			s.stopPlayer()
		}
	case *wire.InputAudioBufferSpeechStopped:
		s.flow.speechStopped(e.ItemID, s.session.answers, now)
		s.meter.begin(e.ItemID, now)
	case *wire.InputAudioBufferCommitted:
		if it := s.items.find(e.ItemID); it != nil {
			s.items.place(it, e.PreviousItemID)
		}
		s.flow.committed(e.ItemID, s.committing, now)
		if s.committing {
			s.committing = false
			s.meter.turn.ItemID = e.ItemID
			s.askAnswer(e.ItemID)
		}
	case *wire.InputAudioBufferCleared:
		s.dropTurn()
	case *wire.OutputAudioBufferStarted:
		s.soundStarted(e.ResponseID)
	case *wire.OutputAudioBufferStopped:
		s.soundEnded(e.ResponseID)
	case *wire.OutputAudioBufferCleared:
		s.cutOff(s.interruption.number(e.ResponseID), s.flow.speaking())
		s.soundCut(e.ResponseID)
	case *wire.ConversationItemInputAudioTranscriptionDelta:
		s.caption(e.ItemID, e.ContentIndex, e.Delta)
	case *wire.ConversationItemInputAudioTranscriptionCompleted:
		s.transcribed(e.ItemID, e.Transcript)
	case *wire.ConversationItemInputAudioTranscriptionFailed:
		s.untranscribed(e.ItemID, e.Error.Message)
	default:
		return false
	}
	s.dirty = true
	return true
}

// dropTurn ends a turn that comes to nothing. Words that were shown stay, an empty line goes.
func (s *Session) dropTurn() {
	if !s.flow.speaking() && s.flow.stopped == 0 {
		return
	}
	it := s.items.find(s.flow.item())
	s.flow.endTurn()
	switch {
	case it == nil:
	case it.entry.Text == "":
		s.items.remove(it.id)
	default:
		s.items.settle(it)
	}
	s.dirty = true
}

func (s *Session) soundStarted(response string) {
	now := s.clock.Now()
	s.flow.soundStarted(response, now)
	s.interruption.sounds(response)
	s.meter.sound(now)
	s.dirty = true
}

func (s *Session) soundEnded(response string) {
	if s.flow.soundEnded(response, false) {
		s.silent()
	}
}

func (s *Session) soundCut(response string) {
	if s.flow.soundEnded(response, true) {
		s.silent()
	}
}

func (s *Session) silent() {
	s.interruption.heard = 0
	s.meter.silence(s.clock.Now())
	s.dirty = true
}

// caption appends to the words of a turn while they are being recognised.
func (s *Session) caption(id string, index int, delta string) {
	it := s.items.open(id, User)
	it.entry.Spoken = true
	s.items.part(it, index, delta, true)
	if s.flow.item() == id {
		s.flow.since = s.clock.Now()
	}
}

// transcribed replaces all captions of a turn by its words.
func (s *Session) transcribed(id, words string) {
	it := s.items.open(id, User)
	it.entry.Spoken, it.parts = true, nil
	words = strings.TrimSpace(words)
	s.items.text(it, words)
	s.items.settle(it)
	if words != "" {
		s.items.note(it, "", false)
		return
	}
	s.items.note(it, "no words were understood", false)
	s.flow.tell(view.Transcribed{Turn: s.flow.turn(id), Empty: true}, 0) // it needs no answer; should one come all the same, it is shown
}

// untranscribed takes the captions of a turn back: its words are not known.
func (s *Session) untranscribed(id, why string) {
	it := s.items.open(id, User)
	it.entry.Spoken, it.parts = true, nil
	s.items.text(it, "")
	s.items.settle(it)
	if why == "" {
		why = "the words could not be recognised"
	}
	s.items.note(it, why, true)
	s.flow.tell(view.Transcribed{Turn: s.flow.turn(id), Empty: true}, 0)
}
