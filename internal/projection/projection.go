// Package projection computes what a client can know of a server's session: ClientView is the state that a client shows, Told
// is the event of the protocol that an effect is. Servers and tests use this package. A client needs package view alone.
//
// # Invariant
//
//   - ConfirmedIsProjection: a step leads from the state s to the state t. The events that Told returns for the effects of
//     the step, in order, lead from ClientView(s) to ClientView(t). Once all these events have arrived, the client's confirmed
//     state equals the ClientView of the server's state.
//
// A session that ends drops the turn that waits for its answer, and the client learns that only from the session's end. While
// the session closes, a client may still believe that the turn waits: Agrees allows that.
package projection

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// ClientView returns the state of a client that has received every event up to s.
func ClientView(s session.State) view.State {
	switch s.Conn.(type) {
	case conn.Connecting:
		return view.Closed{}
	case conn.Closed:
		return view.Over{}
	case conn.Live, conn.Interrupted, conn.Closing:
	}
	return view.Open{
		Speech: speech(s.Turn), Waiting: s.Waiting, Live: response.Live(s.Response), Sound: sound(s.Playout),
		Interrupts: s.Config.Interrupt, Answers: s.Config.CreateResponse,
	}
}

// Agrees reports whether a client's confirmed state v is ClientView(s). While s closes, v may differ in two ways: a turn that
// waited may still wait in v, and v is Closed if the session was never announced.
func Agrees(v view.State, s session.State) bool {
	of := ClientView(s)
	if _, closing := s.Conn.(conn.Closing); !closing {
		return v == of
	}
	o, open := v.(view.Open)
	o.Waiting = 0
	return !open && v == view.State(view.Closed{}) || open && view.State(o) == of
}

// speech returns the turn whose speech_started was sent and whose speech_stopped was not, or 0.
func speech(s turn.State) machine.Turn {
	switch s := s.(type) {
	case turn.Speaking:
		return s.Turn
	case turn.Confirming:
		return s.Turn
	case turn.Idle, turn.Candidate: // a candidate is announced to nobody
	}
	return 0
}

// sound is the response that was announced as started, and as nothing since, or 0.
func sound(s playout.State) machine.Response {
	switch s := s.(type) {
	case playout.Playing:
		return s.Resp
	case playout.Held:
		if s.Started {
			return s.Resp
		}
	case playout.Silent, playout.Cut, playout.Terminated:
	}
	return 0
}

// Reasons for which a client's view is without an effect.
const (
	body    = "bodies run in the server"
	voice   = "clauses are the server's"
	words   = "it is the recogniser's; DeliverText and DeliverFailure tell"
	judged  = "a candidate is nobody's but the server's until its verdict"
	audio   = "it is sound, and no event: EmitStarted, EmitStopped and EmitCleared tell"
	follows = "the event after it tells"
	timers  = "timers are the server's"
	closing = "the session's own: its end is the transport's"
)

// Told is the event that a client is told of the effect f of a step to a state with the settings c; or why there is none.
// An effect that it does not know has neither.
func Told(f session.Effect, c session.Config) (e view.Told, why string) {
	switch f := f.(type) {
	case conn.Effect:
		return ofConn(f, c)
	case turn.Effect:
		return ofTurn(f)
	case response.Effect:
		return ofResponse(f)
	case playout.Effect:
		return ofPlayout(f)
	case transcription.Effect:
		return ofTranscription(f)
	case synthesis.Effect:
		return nil, voice
	case session.Pause:
		return nil, audio
	}
	return nil, ""
}

// Configured is the event of new settings: session.updated, which is sent before what follows from them.
func Configured(c session.Config) view.Told {
	return view.Configured{Interrupts: c.Interrupt, Answers: c.CreateResponse}
}

func ofConn(f conn.Effect, c session.Config) (view.Told, string) {
	switch f.(type) {
	case conn.AnnounceSession:
		return view.Opened{Interrupts: c.Interrupt, Answers: c.CreateResponse}, ""
	case conn.ReleaseTransport:
		return view.Ended{}, ""
	case conn.StartVAD, conn.StopVAD:
		return nil, "session.updated tells of the detector"
	case conn.ArmGrace:
		return nil, timers
	case conn.StopChildren, conn.Forget:
		return nil, closing
	}
	return nil, ""
}

func ofTurn(f turn.Effect) (view.Told, string) {
	switch f := f.(type) {
	case turn.EmitSpeechStarted:
		return view.SpeechStarted{Turn: f.Turn}, ""
	case turn.EmitSpeechStopped:
		return view.SpeechStopped{Turn: f.Turn}, ""
	case turn.CommitTurn:
		return view.Committed{Turn: f.Turn, ByClient: f.ByClient}, ""
	case turn.OpenCandidate, turn.RejectCandidate:
		return nil, judged
	case turn.OpenTurn, turn.BargeIn, turn.EmitTimeout:
		return nil, follows
	case turn.DiscardTurn:
		return nil, "the end of its speech tells"
	case turn.ArmFallback, turn.AskGate:
		return nil, timers
	}
	return nil, ""
}

func ofResponse(f response.Effect) (view.Told, string) {
	switch f := f.(type) {
	case response.EmitCreated:
		return view.Created{Resp: f.ID}, ""
	case response.EmitTerminal:
		return view.Done{Resp: f.ID}, ""
	case response.RejectActive, response.RejectNotActive:
		return view.Refused{}, ""
	case response.StartBody, response.CancelBody:
		return nil, body
	}
	return nil, ""
}

func ofPlayout(f playout.Effect) (view.Told, string) {
	switch f := f.(type) {
	case playout.EmitStarted:
		return view.Started{Resp: f.Resp}, ""
	case playout.EmitStopped:
		return view.Stopped{Resp: f.Resp}, ""
	case playout.EmitCleared:
		return view.Cleared{Resp: f.Resp}, ""
	case playout.EmitRejected:
		return view.Rejected{}, ""
	case playout.AwaitReady, playout.AwaitHeard:
		return nil, timers
	case playout.Play, playout.Hold, playout.RewindAndResume, playout.Drop:
		return nil, audio
	case playout.Truncate:
		return nil, "what was heard of an item is the conversation's"
	}
	return nil, ""
}

func ofTranscription(f transcription.Effect) (view.Told, string) {
	switch f := f.(type) {
	case transcription.DeliverText:
		return view.Transcribed{Turn: f.Turn, Empty: f.Empty}, ""
	case transcription.DeliverFailure:
		return view.Transcribed{Turn: f.Turn, Empty: true}, ""
	case transcription.OpenStream, transcription.CloseInput, transcription.DecodeWhole, transcription.CloseStream,
		transcription.Degrade:
		return nil, words
	}
	return nil, ""
}
