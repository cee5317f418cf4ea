package sdk

// Where server events go, and those about the session, the turns of the user and the playback.

import (
	"cmp"
	"errors"
	"strings"

	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
	"github.com/antiphon-rt/antiphon/wire"
)

// serverSession holds the settings of the server's session that the client needs.
type serverSession struct {
	id, model string
	// answers: the server answers a turn by itself; interrupts: a turn interrupts the agent.
	answers, interrupts bool
	// transcribes: the server sends a transcript of every turn, or says that there is none.
	transcribes bool
}

// message handles one server event. It drops events that it cannot read.
func (s *Session) message(data []byte) {
	e, err := readEvent(data)
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
		s.call.resume.After = e.id
	}
	if s.sessionEvent(e) || s.turnEvent(e) || s.itemEvent(e) || s.wordsEvent(e) {
		return
	}
	s.responseEvent(e)
}

// sessionEvent handles an event about the whole session. It returns false for any other event.
func (s *Session) sessionEvent(e *serverEvent) bool {
	switch e.kind {
	case "session.created":
		s.sessionTold(e.session)
		if s.phase == phaseLost && s.call.recovery.Fresh {
			s.newConversationStands()
			break
		}
		s.greet()
		s.connected()
	case "session.updated":
		s.sessionTold(e.session)
	case "error":
		s.refused(e.problem)
	case "antiphon.ack":
		s.acknowledged(e)
	case "antiphon.barge_in.rejected":
		s.bargeIn(s.barge.RejectedByServer(e.candidate, s.moment()))
	case "antiphon.turn.metrics":
		s.dirty = s.measurement.told(e) || s.dirty
	case "antiphon.session.moving":
		s.call.moves = true
	case "antiphon.run.message":
		s.runs.Take(&e.run)
	default:
		return false
	}
	return true
}

// sessionTold takes the settings of the server's session.
func (s *Session) sessionTold(told serverSession) {
	s.server.session = told
	s.dialog.Configured(told.interrupts, told.answers)
	s.dirty = true
}

// turnEvent handles an event about a turn of the user or about the playback. It returns false for any other event.
func (s *Session) turnEvent(e *serverEvent) bool {
	now := s.clock.Now()
	switch e.kind {
	case "input_audio_buffer.speech_started":
		s.items.Open(e.itemID, transcript.User).Spoken = true
		s.dialog.SpeechStarted(e.itemID, now)
		if s.server.session.interrupts {
			s.bargeIn(s.barge.Interrupted(true, s.moment()))
			s.stopPlayer()
		}
	case "input_audio_buffer.speech_stopped":
		s.dialog.SpeechStopped(e.itemID, s.server.session.answers, now)
		s.measurement.begin(e.itemID, now)
	case "input_audio_buffer.committed":
		if it := s.items.Find(e.itemID); it != nil {
			s.items.Place(it, e.previous)
		}
		s.dialog.Committed(e.itemID, s.manual.committing, now)
		if s.manual.committing {
			s.manual.committing = false
			s.measurement.turn.ItemID = e.itemID
			s.askAnswer(e.itemID)
		}
	case "input_audio_buffer.cleared":
		// Where the server ends the turns, the captions go, too: the turn is no item of the conversation.
		item := s.dialog.Item()
		if s.dropTurn() && !s.turnsEndByHand() {
			s.items.Remove(item)
		}
	case "output_audio_buffer.started":
		s.soundStarted(e.responseID)
	case "output_audio_buffer.stopped":
		s.sound.stopped()
		s.soundEnded(e.responseID, false)
	case "output_audio_buffer.cleared":
		s.sound.stopped()
		s.bargeIn(s.barge.Cut(e.responseID, s.dialog.Confirmed().Speech != 0, s.moment()))
		s.soundEnded(e.responseID, true)
	case "conversation.item.input_audio_transcription.delta":
		s.caption(e.itemID, e.index, e.text)
	case "conversation.item.input_audio_transcription.completed":
		words, note := strings.TrimSpace(e.text), ""
		if words == "" {
			note = "no words were understood"
		}
		s.recognised(e.itemID, words, note, false)
	case "conversation.item.input_audio_transcription.failed":
		s.recognised(e.itemID, "", cmp.Or(e.problem.Message, "the words could not be recognised"), true)
	default:
		return false
	}
	s.dirty = true
	return true
}

// itemEvent handles an event about an item. It returns false for any other event.
func (s *Session) itemEvent(e *serverEvent) bool {
	switch e.kind {
	case "conversation.item.added", "conversation.item.created":
		if e.item.ID == "" {
			s.trace("an item without an id was left out")
			break
		}
		s.items.Added(&e.item, e.previous)
		if e.item.Type == wire.ItemFunctionCallOutput {
			s.tools.Taken(e.item.CallID)
		}
		if e.kind == "conversation.item.created" {
			s.items.Done(&e.item, e.previous, s.server.session.transcribes)
		}
	case "conversation.item.done":
		s.items.Done(&e.item, e.previous, s.server.session.transcribes)
	case "conversation.item.deleted":
		s.items.Remove(e.itemID)
		s.dialog.Deleted(e.itemID)
	case "conversation.item.retrieved":
		s.items.Retrieved(&e.item)
	case "conversation.item.truncated":
		if s.items.Truncated(e.itemID, e.endMS, s.clock.Now()) {
			s.send("conversation.item.retrieve", newJSON().Key("item_id").Text(e.itemID), outgoing.Intent{Kind: outgoing.Retrieve, Item: e.itemID})
		}
	default:
		return false
	}
	s.dirty = true
	return true
}

// dropTurn ends a turn that comes to nothing. An entry with words stays in the transcript, an empty one goes.
func (s *Session) dropTurn() (dropped bool) {
	item, open := s.dialog.DropTurn()
	if !open {
		return false
	}
	s.dirty = true
	if it := s.items.Find(item); it != nil && it.Text != "" {
		s.items.Settle(it)
	} else {
		s.items.Remove(item)
	}
	return true
}

// soundStarted notes that the playback of a response has begun.
func (s *Session) soundStarted(response string) {
	now := s.clock.Now()
	s.dialog.SoundStarted(response, now)
	s.barge.Responses.Started(response)
	s.measurement.sound(now)
	s.heardAgain()
	s.dirty = true
}

// soundEnded notes that a response was played to its end, or was cut off. An empty id means whichever response is heard.
func (s *Session) soundEnded(response string, cut bool) {
	ended := response
	if ended == "" {
		ended, _ = s.dialog.Sound()
	}
	s.wordsEnded(ended, cut)
	if s.dialog.SoundEnded(response, cut) {
		s.barge.Responses.Heard = 0
		s.measurement.silence(s.clock.Now())
		s.dirty = true
	}
}

// caption adds to a turn's words while the recogniser works.
func (s *Session) caption(id string, index int, delta string) {
	it := s.items.Open(id, transcript.User)
	it.Spoken = true
	s.items.Part(it, index, delta, true)
	s.dialog.Captioned(id, s.clock.Now())
}

// recognised shows the final words of a turn. problem says why there are none.
func (s *Session) recognised(id, words, problem string, failed bool) {
	s.items.Recognised(id, words, problem, failed)
	if words == "" {
		s.dialog.WithoutWords(id)
	}
}
