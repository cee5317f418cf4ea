package listening

// The voice gate: the machine of each committed turn that asks who speaks (internal/coord/voicegate), and what becomes of its effects. The final text of a
// turn is kept back until the verdict. A refused turn is one without words for the machines.

import (
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/coord/voicegate"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxVerified is how much of a turn the verifier gets, in samples at room.InputRate: its last 30 s.
const maxVerified = 30 * room.InputRate

// States of antiphon.voice.
const (
	voiceResolving  = "resolving"
	voiceAuthorised = "authorised"
	voiceRejected   = "rejected"
)

// GateParts are what a Listening works with where a voice gate asks who speaks.
type GateParts struct {
	// Gate asks who speaks; nil lets everybody speak to the model.
	Gate *pipeline.VoiceGate
	// Trace, when not nil, sees every step of the machines of turns.
	Trace func(name string, step coord.Step)
	// Broken is called with an invariant of these machines that does not hold; nil where they are not checked.
	Broken func(invariant, event string)
}

// voiceGate has the turns whose voices are asked about, and those whose verdict is not used up.
type voiceGate struct {
	turns   map[turn.ID]*gatedTurn
	trusted bool // a turn has earned the session's trust
}

// gates is the machine of a turn at the gate.
var gates = room.Machine[voicegate.State, voicegate.Event, voicegate.Effect, voicegate.Seen]{
	Name: "voicegate", Table: voicegate.Table, Monitor: voicegate.Monitor,
}

// gatedTurn is a turn at the gate.
type gatedTurn struct {
	state   voicegate.State
	seen    voicegate.Seen   // when invariants are checked
	itemID  string           // of the item that the turn became; empty before the commit
	pcm     []int16          // its audio, until Verify
	held    RecognitionEvent // the last report of its recognition, which waits for the verdict; nil for none
	speaker string
	reason  string // why it is refused
}

// atGate returns turn t at the gate.
func (l *Listening) atGate(t turn.ID) *gatedTurn {
	g := l.gate.turns[t]
	if g == nil {
		g = &gatedTurn{state: voicegate.Waiting{}}
		l.gate.turns[t] = g
	}
	return g
}

// leaveGate forgets turn t, and reports whether it may reach the model. A turn without a verdict is refused.
func (l *Listening) leaveGate(t turn.ID, facts Facts) (admitted bool, out room.List) {
	if l.Gate == nil {
		return true, nil
	}
	g := l.atGate(t)
	g.held = nil
	for _, a := range l.stepGate(t, voicegate.Shutdown{}, facts) {
		if step, is := a.(room.Step); is {
			out.Later(step.Event) // the machines are in the middle of a step
		} else {
			out = append(out, a)
		}
	}
	_, admitted = g.state.(voicegate.Admitted)
	delete(l.gate.turns, t)
	return admitted, out
}

// trusts reports whether what the user says now may reach the model before a verdict.
func (l *Listening) trusts() bool { return l.Gate == nil || l.Gate.FirstTurn && l.gate.trusted }

// keptBack takes the last report of a recognition. It reports whether the report waits for the verdict, and otherwise returns the
// report that counts: that of a refused turn has no words.
func (l *Listening) keptBack(t turn.ID, e RecognitionEvent) (RecognitionEvent, bool) {
	if l.Gate == nil || t == 0 {
		return e, false
	}
	_, failed := e.(Failed)
	if g := l.gate.turns[t]; failed && (g == nil || g.itemID == "") {
		return e, false // the turn goes on without its recognition, and is decoded when it is committed
	}
	g := l.atGate(t)
	switch g.state.(type) {
	case voicegate.Admitted:
	case voicegate.Refused:
		return Final{Turn: t}, false
	case voicegate.Waiting, voicegate.Resolving:
		g.held = e
		return nil, true
	}
	return e, false
}

// guard asks who speaks in turn t, which became the item itemID.
func (l *Listening) guard(t turn.ID, itemID string, pcm []int16, facts Facts) room.List {
	if l.Gate == nil {
		return nil
	}
	g := l.atGate(t)
	g.itemID, g.pcm = itemID, pcm[max(0, len(pcm)-maxVerified):]
	return l.stepGate(t, voicegate.Ask{First: l.Gate.FirstTurn, Trusted: l.gate.trusted && !facts.Strict}, facts)
}

// stepGate runs one event through the machine of turn t and performs the effects. A forgotten turn takes no events.
func (l *Listening) stepGate(t turn.ID, e voicegate.Event, facts Facts) (out room.List) {
	g := l.gate.turns[t]
	if g == nil {
		return nil
	}
	effects, st := gates.Step(&g.state, &g.seen, e, l.Broken)
	room.LogStep(l.Log, st)
	if l.Trace != nil {
		l.Trace(fmt.Sprintf("voicegate.%d", t), st)
	}
	for _, f := range effects {
		switch f.(type) {
		case voicegate.Verify:
			l.verify(t, g)
			out = append(out, l.tellVoice(g, voiceResolving)...)
		case voicegate.Trust:
			l.gate.trusted = true
		case voicegate.Admit:
			l.timers.Stop(gateTimer(t))
			out = append(out, l.tellVoice(g, voiceAuthorised)...)
			l.releaseText(g)
		case voicegate.Refuse:
			l.timers.Stop(gateTimer(t))
			out = append(out, l.refuse(t, g, facts)...)
		}
	}
	return out
}

func gateTimer(t turn.ID) string { return fmt.Sprintf("voice %d", t) }

// verify asks the back end who speaks.
func (l *Listening) verify(t turn.ID, g *gatedTurn) {
	within := l.Gate.Deadline
	if within <= 0 {
		within = pipeline.DefaultGateDeadline
	}
	l.after(gateTimer(t), within, VoiceDue{t})
	pcm := g.pcm
	g.pcm = nil
	l.workers.Go(func() {
		known := VoiceKnown{Turn: t}
		known.Err = l.Guard.Run(l.Context, pipeline.StageVoiceGate, func(w *watchdog.Watch) error {
			heard, err := forStages(pcm)
			if err != nil {
				return err
			}
			w.Expect("recognising a voice", within+time.Second)
			defer w.Rest()
			v, err := l.Gate.Verifier.Verify(l.Context, heard)
			if err != nil {
				return err
			}
			return w.Deliver(func() error {
				known.Verdict = v
				return nil
			})
		})
		l.Post(known)
	})
}

// voiceKnown takes the answer of the back end.
func (l *Listening) voiceKnown(e VoiceKnown, facts Facts) room.List {
	g := l.gate.turns[e.Turn]
	if _, resolving := stateOf(g).(voicegate.Resolving); !resolving {
		return nil
	}
	switch {
	case e.Err != nil:
		room.LogFailure(l.Log, "the voice of a turn is not known: the turn is refused", e.Err, "turn", e.Turn)
		g.reason = "failed"
		return l.stepGate(e.Turn, voicegate.Failed{}, facts)
	case !e.Verdict.Authorised:
		g.reason = "not_authorised"
		return l.stepGate(e.Turn, voicegate.Mismatched{}, facts)
	}
	g.speaker = e.Verdict.Speaker
	return l.stepGate(e.Turn, voicegate.Matched{}, facts)
}

// voiceDue ends the wait for the back end.
func (l *Listening) voiceDue(t turn.ID, facts Facts) room.List {
	g := l.gate.turns[t]
	if _, resolving := stateOf(g).(voicegate.Resolving); !resolving {
		return nil
	}
	l.Log.Warn("the voice of a turn is not known in time: the turn is refused", "turn", t)
	g.reason = "timeout"
	return l.stepGate(t, voicegate.Expired{}, facts)
}

func stateOf(g *gatedTurn) voicegate.State {
	if g == nil {
		return nil
	}
	return g.state
}

// refuse removes the item of turn t from the conversation, and ends a response that the client has asked for and whose body would begin now.
func (l *Listening) refuse(t turn.ID, g *gatedTurn, facts Facts) (out room.List) {
	if g.itemID == "" {
		return nil
	}
	if g.reason == "" {
		g.reason = "given_up"
	}
	l.Log.Info("a turn is refused by its voice", "turn", t, "reason", g.reason)
	out = l.tellVoice(g, voiceRejected)
	if deleted, failure := l.Conversation.Delete(g.itemID); failure == nil { // the client may have deleted it
		out.SendAll(deleted)
	}
	if facts.Unbegun != 0 {
		out.Step(coord.OfResponse{Event: response.Cancel{Target: facts.Unbegun}})
	}
	l.releaseText(g)
	return out
}

// releaseText gives the report that has waited for the verdict to the session again.
func (l *Listening) releaseText(g *gatedTurn) {
	if g.held != nil {
		l.reportLater(g.held)
		g.held = nil
	}
}

// reportLater gives a report to the session. It does not wait: the session's own goroutine calls it, perhaps in the middle of a step.
func (l *Listening) reportLater(e RecognitionEvent) {
	l.workers.Go(func() { l.Post(Report{e}) })
}

// takeWhole takes the text of turn t that the retranscription has found, if there is one. It is the last report of the turn's recognition.
func (l *Listening) takeWhole(t turn.ID) (out room.List, ok bool) {
	final, ok := l.speech.TakeWhole(t)
	switch {
	case !ok:
	case l.Gate != nil:
		l.reportLater(final)
	default:
		out.Later(coord.OfTranscription{Event: transcription.Done{Turn: t, Empty: final.Text == ""}})
	}
	return out, ok
}

// tellVoice tells a client that knows our extensions what the gate says about a turn.
func (l *Listening) tellVoice(g *gatedTurn, state string) (out room.List) {
	if l.Settings.Client.Extended {
		out.Send(&wire.AntiphonVoice{ItemID: g.itemID, State: state, Speaker: g.speaker, Reason: g.reason})
	}
	return out
}

// gateRecording refuses audio that the gate has not heard.
func (l *Listening) gateRecording() *room.Failure {
	if l.Gate == nil {
		return nil
	}
	return room.Refuse("voice_gate", "item",
		"this server asks who speaks: send audio with input_audio_buffer.append or over WebRTC, not in an item")
}
