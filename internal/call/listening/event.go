package listening

// What timers and recognitions report, and what follows from it.

import (
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Event is something that the Listening has posted to its session: one of Report, VerdictDue, AudioDue, FallbackDue,
// GateDue, IdleDue, EndDue, SoundsFound, VoiceKnown, VoiceDue.
//
//sumtype:decl
type Event interface{ event() }

type (
	// Report is a report of a recognition.
	Report struct{ Of RecognitionEvent }
	// VerdictDue ends the wait for a verdict on the candidate Turn.
	VerdictDue struct{ Turn turn.ID }
	// AudioDue checks whether audio still comes while Turn is open.
	AudioDue struct{ Turn turn.ID }
	// FallbackDue ends the wait for the recogniser's end of utterance.
	FallbackDue turn.FallbackExpired
	// GateDue ends the wait for the gate.
	GateDue turn.AskGate
	// IdleDue: idle_timeout_ms has passed since timer Gen was set.
	IdleDue struct{ Gen uint64 }
	// EndDue ends the time in which the end of a turn is tentative.
	EndDue turnend.Arm
	// SoundsFound has the sounds of the turn that became the item ItemID. Err says why they are not known.
	SoundsFound struct {
		ItemID string
		Tags   []sounds.Tag
		Err    error
	}
	// VoiceKnown says who speaks in Turn. Err says why that is not known.
	VoiceKnown struct {
		Turn    turn.ID
		Verdict pipeline.SpeakerVerdict
		Err     error
	}
	// VoiceDue ends the wait for the voice of Turn.
	VoiceDue struct{ Turn turn.ID }
)

func (Report) event()      {}
func (VerdictDue) event()  {}
func (AudioDue) event()    {}
func (FallbackDue) event() {}
func (GateDue) event()     {}
func (IdleDue) event()     {}
func (EndDue) event()      {}
func (SoundsFound) event() {}
func (VoiceKnown) event()  {}
func (VoiceDue) event()    {}

// Handle takes an event that the Listening has posted.
func (l *Listening) Handle(e Event, s *coord.State, facts Facts) room.List {
	switch e := e.(type) {
	case Report:
		return l.report(e.Of, s)
	case VerdictDue:
		return step(l.input.Decide(e.Turn, l.Env.Now()))
	case AudioDue:
		return l.checkAudio(e.Turn, s)
	case FallbackDue:
		return step(turn.FallbackExpired(e))
	case GateDue:
		return step(l.speech.GateLate(turn.AskGate(e)))
	case IdleDue:
		if e.Gen == l.idle {
			return step(turn.IdleTimeout{})
		}
	case EndDue:
		l.stepEnd(turnend.Expired{Turn: e.Turn})
	case SoundsFound:
		return l.soundsFound(e)
	case VoiceKnown:
		return l.voiceKnown(e, facts)
	case VoiceDue:
		return l.voiceDue(e.Turn, facts)
	}
	return nil
}

// report takes a report of a recognition.
func (l *Listening) report(e RecognitionEvent, s *coord.State) (out room.List) {
	if t := lastOf(e); t != 0 {
		var waits bool
		if e, waits = l.keptBack(t, e); waits {
			return nil
		}
	}
	follows, err := l.speech.Handle(e, l.speechView(s))
	switch e := e.(type) {
	case Partial:
		if c, is := s.Turn.(turn.Candidate); is && c.Turn == e.Turn {
			out = step(l.input.Partial(e.Turn, e.Text))
		}
	case Failed:
		if err != nil {
			room.LogFailure(l.Log, "a transcription failed", err, "turn", e.Turn)
		}
	case Recorded:
		if err != nil {
			room.LogFailure(l.Log, "a transcription failed", err, "item", e.Item)
		}
		out = l.recorded(e)
	case Retranscribed:
		if err != nil {
			room.LogFailure(l.Log, "an utterance could not be recognised again: its end counts without that", err, "turn", e.Turn)
		}
	case Ready, Refused, Final, Ending:
	}
	return append(out, follows...)
}

// lastOf returns the turn whose recognition ends with e; 0 for none.
func lastOf(e RecognitionEvent) turn.ID {
	switch e := e.(type) {
	case Final:
		return e.Turn
	case Failed:
		return e.Turn
	case Ready, Refused, Partial, Ending, Recorded, Retranscribed:
	}
	return 0
}

// checkAudio ends turn t if its client sends nothing any more, not even silence, and the connection is up.
func (l *Listening) checkAudio(t turn.ID, s *coord.State) room.List {
	if turn.Open(s.Turn) != t {
		return nil
	}
	left := l.input.AudioTimeoutIn(l.Env.Now())
	if l.cutOff(s) {
		left = AudioTimeout
	}
	if left > 0 {
		l.after("audio", left, AudioDue{t})
		return nil
	}
	return step(turn.Silence{Turn: t})
}

// ArmIdle starts the timer of idle_timeout_ms: at the end of the playback or of the last turn.
func (l *Listening) ArmIdle(s *coord.State) {
	l.stopIdle()
	if d, ok := l.input.IdleTimeout(); ok && !audible(s) {
		l.after("idle", d, IdleDue{l.idle})
	}
}

// stopIdle stops that timer. An event of it that is in the queue already is stale.
func (l *Listening) stopIdle() {
	l.idle++
	l.timers.Stop("idle")
}

// after posts e once d has passed. A timer of the same name is replaced.
func (l *Listening) after(name string, d time.Duration, e Event) {
	l.timers.Start(name, d, func() { l.Post(e) })
}

// --- the effects of the connection's machine

// StartDetection begins to detect turns. A turn that StopDetection has interrupted goes on at once, or with the next speech if the agent speaks.
func (l *Listening) StartDetection(s *coord.State) (out room.List) {
	l.input.StartDetection()
	l.ArmIdle(s)
	if l.speech.left != "" && !audible(s) {
		out.Later(coord.OfTurn{Event: turn.Onset{}})
	}
	return out
}

// StopDetection ends the detection of turns.
func (l *Listening) StopDetection() {
	l.input.on = false
	l.stopIdle()
}
