package session

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/wire"
)

// fromEar takes what a recogniser understood.
func (s *Session) fromEar(e any) {
	switch e := e.(type) {
	case earReady:
		s.step(coord.OfTranscription{Event: transcription.Ready{Turn: e.turn}})
	case earRefused:
		s.step(coord.OfTranscription{Event: transcription.Refuse{Turn: e.turn}})
	case earPartial:
		s.partial(e)
	case earFinal:
		if u := s.turns[e.turn]; u != nil {
			u.final, u.words = e.text, e.words
			s.step(coord.OfTranscription{Event: transcription.Done{Turn: e.turn, Empty: e.text == ""}})
		}
	case earFailed:
		if u := s.turns[e.turn]; u != nil {
			u.failure, u.ear = e.err, nil
			s.failed("a transcription failed", e.err, "turn", e.turn)
			s.step(coord.OfTranscription{Event: transcription.Failed{Turn: e.turn}})
		}
	}
}

func (s *Session) partial(e earPartial) {
	u := s.turns[e.turn]
	if u == nil {
		return
	}
	u.text = e.text
	if c, is := s.state.Turn.(turn.Candidate); is && c.Turn == u.id {
		s.turnEvent(s.input.Partial(u.id, e.text))
	}
	s.caption(u)
	td := s.settings.TurnDetection()
	if e.eou && td != nil && td.Type == wire.SemanticVAD {
		u.eou = true
		s.step(coord.OfTranscription{Event: transcription.EOU{Turn: e.turn}})
		s.endOfUtterance(e.turn)
	}
}

// endOfUtterance tells the turn machine after what is in hand, which may be the opening of the turn itself.
func (s *Session) endOfUtterance(t turn.ID) {
	s.again(coord.OfTurn{Event: turn.EndOfUtterance{Turn: t, Voiced: s.input.Voiced()}})
}

// deliver gives a turn its text.
func (s *Session) deliver(u *userTurn) {
	u.times.transcript = s.now()
	s.settle(u, u.final)
	s.transcribed(u.itemID, 0, earFinal{text: u.final, words: u.words}, len(u.audio))
	s.keepTurn(u)
	u.audio = nil
	s.armIdle()
	s.startWaiting()
}

// deliverFailure says that a turn has no text, and why.
func (s *Session) deliverFailure(u *userTurn) {
	s.settle(u, "")
	s.keepTurn(u)
	message := "the recogniser is too slow: two more turns came before the text of this one"
	if u.failure != nil {
		message = u.failure.Error()
	}
	s.untranscribed(u.itemID, 0, message)
	s.startWaiting()
}

// transcribed tells a client that wants transcripts what was said in a part of an item, of so many samples.
func (s *Session) transcribed(itemID string, part int, said earFinal, samples int) {
	if s.settings.Transcription() == nil {
		return
	}
	s.segments(itemID, part, said.words)
	s.send(&wire.ConversationItemInputAudioTranscriptionCompleted{
		ItemID: itemID, ContentIndex: part, Transcript: said.text, Logprobs: s.logprobs(said.words),
		Usage: wire.TranscriptionUsage{Type: "duration", Seconds: float64(samples) / format.InputRate},
	})
}

// untranscribed says why a part of an item has no transcript.
func (s *Session) untranscribed(itemID string, part int, message string) {
	if s.settings.Transcription() == nil {
		s.fail(failure{kind: typeServer, code: "transcription_failed", message: message})
		return
	}
	s.send(&wire.ConversationItemInputAudioTranscriptionFailed{
		ItemID: itemID, ContentIndex: part,
		Error: wire.TranscriptionError{Type: "transcription_error", Code: "transcription_failed", Message: message},
	})
}

// settle ends the wait for u's transcript.
func (s *Session) settle(u *userTurn, text string) {
	if u.it != nil {
		u.it.pending = false
		u.it.Content = []wire.Content{{Type: wire.ContentInputAudio, Transcript: &text}}
	}
	s.dropTurn(u.id)
}

// firstPacket: the reply on air is heard from now on.
func (s *Session) firstPacket() {
	if r := s.replyOnAir(); r != nil && r.turn != nil {
		r.turn.times.once(&r.turn.times.firstPacket, s.now())
	}
}

// turnMetrics tells a client that asked how long everything took.
func (s *Session) turnMetrics(r *reply) {
	if !s.metrics || r.turn == nil {
		return
	}
	s.send(r.turn.times.metrics(r.turn.itemID, r.object.ID, s.now()))
}
