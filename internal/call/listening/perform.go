package listening

// The effects of the turn and transcription machines.

import (
	"math"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/wire"
)

// Turn performs an effect of the turn machine.
func (l *Listening) Turn(f turn.Effect, s *coord.State, facts Facts) (out room.List) {
	switch f := f.(type) {
	case turn.OpenCandidate:
		l.speech.Open(f.Turn, l.input.TurnStart())
		view := l.inputView(s)
		view.AtEnd = facts.AtEnd
		l.input.openCandidate(f.Turn, judge{}, facts.NearAnswer, view)
		l.after("verdict", VerdictTimeout, VerdictDue{f.Turn})
		l.stepEnd(turnend.Opened{Turn: f.Turn})
	case turn.RejectCandidate:
		l.timers.Stop("verdict")
		l.speech.DropCandidate(f.Turn)
		delete(l.gate.turns, f.Turn)
		l.input.CandidateRejected()
		l.stepEnd(turnend.Dropped{Turn: f.Turn})
	case turn.OpenTurn:
		return l.openTurn(f.Turn, s)
	case turn.EmitSpeechStarted:
		out.SendAll(l.speech.Announce(f.Turn, l.speechView(s)))
	case turn.EmitSpeechStopped:
		out.Send(&wire.InputAudioBufferSpeechStopped{AudioEndMS: l.input.EndMS(), ItemID: l.speech.ItemID(f.Turn)})
	case turn.EmitTimeout:
		l.speech.Open(f.Turn, l.input.buffer.Start())
		out.Send(&wire.InputAudioBufferTimeoutTriggered{
			AudioStartMS: int(l.input.buffer.Start().Milliseconds(room.InputRate)), AudioEndMS: l.input.EndMS(), ItemID: l.speech.ItemID(f.Turn),
		})
	case turn.ArmFallback:
		l.after("fallback", time.Duration(f.MS)*time.Millisecond, FallbackDue{Turn: f.Turn, Gen: f.Gen})
	case turn.AskGate:
		l.after("gate", GateTimeout, GateDue(f))
		l.speech.AskGate(f, l.Settings.TranscribeConfig(false), slices.Clone(l.input.buffer.From(l.speech.Open(f.Turn, l.input.buffer.Start()))))
	case turn.CommitTurn:
		return l.commitTurn(f, facts)
	case turn.DiscardTurn:
		if f.Reason == turn.NoWords {
			out.Send(&wire.InputAudioBufferCleared{}) // no committed follows speech_stopped
		}
		l.input.TurnEnded()
		if f.Reason == turn.Stopped {
			l.input.kept = keptAudio{start: l.speech.Leave(f.Turn), until: math.MaxInt64} // for the next turn
		} else {
			l.speech.Drop(f.Turn)
		}
		delete(l.gate.turns, f.Turn)
		l.stepEnd(turnend.Dropped{Turn: f.Turn})
		l.ArmIdle(s)
	case turn.BargeIn: // is the player's
	}
	return out
}

// openTurn performs what follows when turn t is certain.
func (l *Listening) openTurn(t turn.ID, s *coord.State) room.List {
	l.timers.Stop("verdict")
	l.stopIdle()
	l.stepEnd(turnend.Opened{Turn: t})
	l.after("audio", AudioTimeout, AudioDue{t})
	l.input.buffer.DropBefore(l.speech.Open(t, l.input.TurnStart()))
	return l.speech.Opened(t, l.speechView(s))
}

// commitTurn makes an item of the turn's audio.
func (l *Listening) commitTurn(f turn.CommitTurn, facts Facts) (out room.List) {
	l.speech.Open(f.Turn, l.input.buffer.Start())
	pcm, spoke, now := l.input.Commit(), l.input.listener.lastSpeech, l.Env.Now()
	w := wire.Item{
		ID: l.speech.ItemID(f.Turn), Type: wire.ItemMessage, Role: "user", Status: "completed",
		Content: []wire.Content{{Type: wire.ContentInputAudio}},
	}
	it, previous, deleted := l.Conversation.Append(w)
	committed := room.Committed{Turn: f.Turn}
	if f.Wordless {
		committed.Timing = l.speech.CommitWordless(f.Turn, spoke, now)
	} else {
		it.AwaitTranscript()
		committed.Timing = l.speech.Commit(f.Turn, it.Num(), pcm, spoke, now)
	}
	out = append(out, committed)
	out.SendAll(deleted)
	out.Send(&wire.InputAudioBufferCommitted{PreviousItemID: previous, ItemID: w.ID})
	out.Send(&wire.ConversationItemAdded{PreviousItemID: previous, Item: w})
	out.Send(&wire.ConversationItemDone{PreviousItemID: previous, Item: w})
	l.input.TurnEnded()
	l.ended(f, it.Num(), len(pcm), facts.Strict)
	if !f.Wordless {
		l.tagSounds(w.ID, pcm)
		out = append(out, l.guard(f.Turn, w.ID, pcm, facts)...)
	}
	return out
}

// Transcription performs an effect of a transcription machine.
func (l *Listening) Transcription(f transcription.Effect, s *coord.State, facts Facts) (out room.List) {
	switch f := f.(type) {
	case transcription.OpenStream:
		start := l.speech.Open(f.Turn, l.input.buffer.Start())
		l.speech.Listen(f.Turn, l.Settings.TranscribeConfig(true), l.input.FramesSince(start), l.speechView(s))
	case transcription.CloseInput:
		if taken, ok := l.takeWhole(f.Turn); ok {
			return taken
		}
		l.speech.CloseInput(f.Turn)
	case transcription.DecodeWhole:
		if taken, ok := l.takeWhole(f.Turn); ok {
			return taken
		}
		l.speech.Open(f.Turn, l.input.buffer.Start())
		l.speech.Decode(f.Turn, l.Settings.TranscribeConfig(false))
	case transcription.CloseStream:
		l.speech.CloseStream(f.Turn)
	case transcription.Degrade:
		l.Log.Warn("the recogniser has no live transcription: turns end by silence, captions come late")
	case transcription.DeliverText:
		admitted, left := l.leaveGate(f.Turn, facts)
		out = left
		if d, ok := l.speech.Deliver(f.Turn, l.Env.Now()); ok {
			said := ""
			if admitted {
				said = d.Transcript.Text
				out = append(out, l.worded(f.Turn, &d, s)...)
				out = append(out, l.deliver(d)...)
			} else {
				l.stepEnd(turnend.Dropped{Turn: f.Turn})
			}
			out = append(out, room.Said{Turn: f.Turn, Text: said})
			l.ArmIdle(s)
		}
	case transcription.DeliverFailure:
		admitted, left := l.leaveGate(f.Turn, facts)
		out = left
		out = append(out, room.Said{Turn: f.Turn})
		l.stepEnd(turnend.Dropped{Turn: f.Turn})
		if d, ok := l.speech.DeliverFailure(f.Turn); ok && admitted && !l.transcribeLater(d, s) {
			out = append(out, l.deliver(d)...)
		}
	}
	return out
}

// transcribeLater has a turn transcribed that the machines gave up although its recogniser goes on. Responses wait for its transcript.
func (l *Listening) transcribeLater(d Delivery, s *coord.State) bool {
	it := l.Conversation.Numbered(d.Item)
	if !d.Late || it == nil || !conn.Up(s.Conn) || !l.speech.TranscribeLater(d, l.Settings.TranscribeConfig(false)) {
		return false
	}
	l.Conversation.SetRecording(it, d.PCM)
	return true
}

// deliver gives the item of a turn its transcript, and keeps its audio.
func (l *Listening) deliver(d Delivery) room.List {
	it := l.Conversation.Numbered(d.Item)
	if it != nil {
		it.SetTranscript(0, d.Transcript.Text)
		l.Conversation.SetRecording(it, d.PCM)
	}
	return l.tellTranscript(d.Turn.ItemID, &d.Transcript)
}

// TakeRecording takes the audio that has no transcript out of an item that a client creates; see Recognitions.
func (l *Listening) TakeRecording(w *wire.Item) (*Recording, *room.Failure) {
	r, failure := l.speech.TakeRecording(w, l.Settings.InputFormat())
	if r != nil {
		if failure := l.gateRecording(); failure != nil {
			l.DropRecording(r)
			return nil, failure
		}
	}
	return r, failure
}

// DropRecording gives up a recording whose item is refused; nil is none.
func (l *Listening) DropRecording(r *Recording) {
	if r != nil {
		l.speech.stage.memory.Give(r.held)
	}
}

// Transcribe has a recording of an item transcribed. Responses wait for its transcript.
func (l *Listening) Transcribe(it *conversation.Item, r *Recording) {
	it.AwaitTranscript()
	l.Conversation.SetRecording(it, r.PCM)
	l.speech.Transcribe(r, it.Num(), l.Settings.TranscribeConfig(false))
}

// recorded takes the transcript of a recording. Its item may be gone by then.
func (l *Listening) recorded(e Recorded) room.List {
	it := l.Conversation.Numbered(e.Item)
	if it == nil {
		return nil
	}
	it.SetTranscript(e.Transcript.Part, e.Transcript.Text)
	return l.tellTranscript(it.ID, &e.Transcript)
}

// tellTranscript tells the client the transcript of an item.
func (l *Listening) tellTranscript(itemID string, t *Transcript) (out room.List) {
	events, failure := t.Events(l.Env, itemID, l.wants())
	if failure != nil {
		out.Fail(failure)
		return out
	}
	out.SendAll(events)
	return out
}
