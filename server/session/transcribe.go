package session

// The actor's part of the user's speech: it gives frames and reports to the Speech, and transcripts to the conversation.

import (
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/server/session/speech"
	"github.com/antiphon-rt/antiphon/wire"
)

// speechView returns what the Speech reads of the session's state.
func (s *Session) speechView() speech.View {
	td := s.settings.TurnDetection()
	return speech.View{
		Wants: s.wants(), Semantic: td != nil && td.Type == wire.SemanticVAD, Voiced: s.input.Voiced(), Turn: s.machines.state.Turn,
	}
}

// wants returns what the client wants to know of transcripts.
func (s *Session) wants() speech.Wants {
	return speech.Wants{Transcripts: s.settings.Transcription() != nil, Logprobs: s.settings.Logprobs()}
}

// recognise gives a frame to the recogniser of the open turn.
func (s *Session) recognise(frame []float32) {
	if e := s.speech.Write(turn.Open(s.machines.state.Turn), frame); e != nil {
		s.again(speechEvent{e})
	}
}

// fromSpeech takes a report of a recognition.
func (s *Session) fromSpeech(e speech.Event) {
	out, err := s.speech.Handle(e, s.speechView())
	switch e := e.(type) {
	case speech.Partial:
		if c, is := s.machines.state.Turn.(turn.Candidate); is && c.Turn == e.Turn {
			s.turnEvent(s.input.Partial(e.Turn, e.Text))
		}
	case speech.Failed:
		if err != nil {
			s.failed("a transcription failed", err, "turn", e.Turn)
		}
	case speech.Recorded:
		if err != nil {
			s.failed("a transcription failed", err, "item", e.Item)
		}
		s.recorded(e)
	case speech.Ready, speech.Refused, speech.Final:
	}
	s.do(origin{}, out)
}

// performTranscription does what an effect says about the recognition of a turn.
func (s *Session) performTranscription(f transcription.Effect) {
	switch f := f.(type) {
	case transcription.OpenStream:
		start := s.speech.Open(f.Turn, s.input.Start())
		s.speech.Listen(f.Turn, s.settings.TranscribeConfig(true), s.input.FramesSince(start))
	case transcription.CloseInput:
		s.speech.CloseInput(f.Turn)
	case transcription.DecodeWhole:
		s.speech.Open(f.Turn, s.input.Start())
		s.speech.Decode(f.Turn, s.settings.TranscribeConfig(false))
	case transcription.CloseStream:
		s.speech.CloseStream(f.Turn)
	case transcription.Degrade:
		s.log.Warn("the recogniser has no live transcription: turns end by silence, captions come late")
	case transcription.DeliverText:
		if d, ok := s.speech.Deliver(f.Turn, s.now()); ok {
			s.deliver(d)
			s.armIdle()
		}
	case transcription.DeliverFailure:
		if d, ok := s.speech.DeliverFailure(f.Turn); ok {
			s.deliver(d)
		}
	}
}

// commitTurn makes an item of the turn's audio.
func (s *Session) commitTurn(f turn.CommitTurn) {
	s.speech.Open(f.Turn, s.input.Start())
	pcm, spoke, now := s.input.Commit(), s.input.LastSpeech(), s.now()
	w := wire.Item{
		ID: s.speech.ItemID(f.Turn), Type: wire.ItemMessage, Role: "user", Status: "completed",
		Content: []wire.Content{{Type: wire.ContentInputAudio}},
	}
	it, previous, deleted := s.conversation.Append(w)
	if f.Wordless {
		s.generator.Commit(f.Turn, s.speech.CommitWordless(f.Turn, spoke, now))
	} else {
		it.AwaitTranscript()
		s.generator.Commit(f.Turn, s.speech.Commit(f.Turn, it.Num(), pcm, spoke, now))
	}
	s.sendAll(deleted)
	s.send(&wire.InputAudioBufferCommitted{PreviousItemID: previous, ItemID: w.ID})
	s.send(&wire.ConversationItemAdded{PreviousItemID: previous, Item: w})
	s.send(&wire.ConversationItemDone{PreviousItemID: previous, Item: w})
	s.input.TurnEnded()
}

// deliver gives the item of a turn its transcript, and keeps its audio.
func (s *Session) deliver(d speech.Delivery) {
	it := s.conversation.Numbered(d.Item)
	if it != nil {
		it.SetTranscript(0, d.Transcript.Text)
	}
	s.tellTranscript(d.Turn.ItemID, &d.Transcript)
	if it != nil {
		s.conversation.SetRecording(it, d.PCM)
	}
}

// transcribe has a recording of an item transcribed. Responses wait for its transcript.
func (s *Session) transcribe(it *conversation.Item, r *speech.Recording) {
	it.AwaitTranscript()
	s.conversation.SetRecording(it, r.PCM)
	s.speech.Transcribe(r, it.Num(), s.settings.TranscribeConfig(false))
}

// recorded takes the transcript of a recording. Its item may be gone by then.
func (s *Session) recorded(e speech.Recorded) {
	if it := s.conversation.Numbered(e.Item); it != nil {
		it.SetTranscript(e.Transcript.Part, e.Transcript.Text)
		s.tellTranscript(it.ID, &e.Transcript)
	}
}

// tellTranscript tells the client the transcript of an item.
func (s *Session) tellTranscript(itemID string, t *speech.Transcript) {
	events, failure := t.Events(s.cfg.Env, itemID, s.wants())
	s.answerAll(origin{}, events, failure)
}

// openTurn performs what follows when turn t is certain.
func (s *Session) openTurn(t turn.ID) {
	start := s.speech.Open(t, s.input.TurnStart())
	s.input.DropBefore(start)
	s.do(origin{}, s.speech.Opened(t, s.speechView()))
}

// firstPacket notes that the response on air is audible from now on.
func (s *Session) firstPacket() {
	if r := s.generator.OnAir(); r != nil && r.Turn() != nil {
		r.Turn().FirstPacket(s.now())
	}
}
