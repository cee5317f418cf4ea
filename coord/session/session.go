package session

// The state, the settings, the events and the effects of a session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Config has the settings of a session that decide transitions. A new Config holds from its Configure event on.
type Config struct {
	// Interrupt is turn_detection.interrupt_response: the user's speech may interrupt a response.
	Interrupt bool
	// CreateResponse is turn_detection.create_response: a turn that the detector
	// commits gets a response.
	CreateResponse bool
	// Reports: the client predicts barge-ins (antiphon.hello with barge_in). It ducks the agent itself, sends
	// its candidates, and reports how far it has played a response.
	Reports bool
}

// State is the state of the whole session: the states of the machines, and what connects them. It is comparable. The zero value is not
// valid: New returns the first state.
type State struct {
	Conn      conn.State
	Turn      turn.State
	Response  response.State
	Playout   playout.State
	Synthesis synthesis.State     // of the body that runs
	Live      transcription.State // of the open turn
	Final     transcription.State // of the turn that was committed last
	Older     transcription.State // of the one before it, when its text is still awaited
	Config    Config

	// Waiting is the committed turn that has no response yet, or 0. It waits for its text. If Texted is true, the text is there, and the
	// turn waits for the end of a response that it must not interrupt.
	Waiting turn.ID
	Texted  bool
	// Begun is the newest response whose audio has begun to play or waits in Queued; 0 is none.
	Begun response.ID
	// Queued are the responses whose audio waits for the one before it.
	Queued Queue
	// Owed is the request of the newest response, until the response has been played to its end or the client has cancelled it.
	// The zero value is none. If a false barge-in ends the response, the session creates it again for this request.
	Owed machine.Request

	// LastTurn and LastResponse are the newest identifiers. New ones count up.
	LastTurn     turn.ID
	LastResponse response.ID
}

// New returns the state of a session that waits for its transport and its back ends.
func New(c Config) State {
	return State{
		Conn: conn.Connecting{}, Turn: turn.Idle{}, Response: response.Idle{}, Playout: playout.Silent{},
		Synthesis: synthesis.Closed{}, Live: transcription.Closed{}, Final: transcription.Closed{}, Older: transcription.Closed{}, Config: c,
	}
}

// Event is one of OfConn, OfTurn, OfResponse, OfPlayout, OfSynthesis,
// OfTranscription, Configure.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// OfConn is an event of the connection.
	OfConn struct{ conn.Event }
	// OfTurn is an event of the detector, of the recogniser's verdicts, or of the
	// client's input buffer. Fresh turn ids and Onset's AgentAudible are filled in here.
	OfTurn struct{ turn.Event }
	// OfResponse is the client's Create (its ID is filled in here, its Request names what the client asked) or
	// Cancel, or a body's BodyEnded. Only the composition makes the other events: from the driver they are ignored.
	OfResponse struct{ response.Event }
	// OfPlayout is Begin, Drained, the client's Clear, a report of the client (Ready, Heard), the time-out of a report
	// (ReadyExpired, HeardExpired), or Missed. The Candidate of Begin and Missed and Clear's Heard are filled in here. Only the composition makes the other
	// events: from the driver they are ignored.
	OfPlayout struct{ playout.Event }
	// OfSynthesis is Enqueue, Finish or WorkerExited of the body that runs.
	OfSynthesis struct{ synthesis.Event }
	// OfTranscription is Ready, Refuse, EOU, Resumed, Done or Failed of one turn's stream.
	OfTranscription struct{ transcription.Event }
	// Configure changes the settings.
	Configure struct{ Config Config }
)

func (OfConn) event()          {}
func (OfTurn) event()          {}
func (OfResponse) event()      {}
func (OfPlayout) event()       {}
func (OfSynthesis) event()     {}
func (OfTranscription) event() {}
func (Configure) event()       {}

// Name is the event's name in logs and the spec. The other events have the name of the event in them.
func (Configure) Name() string { return "Configure" }

// Effect is an effect of one of the machines. The driver performs the effects in order. The list also has the effects that the composition
// passes to another machine as events. For some of these, such as turn.BargeIn, the driver has nothing to do.
type Effect = machine.Named

// Pause is the composition's own effect: the audio of Resp, which plays, stops at once. It is the first effect of every step that holds or
// drops the response that plays, and occurs in no other step. The driver measured the position of the response before the step. So no more
// audio may go out while the driver performs the other effects.
type Pause struct{ Resp response.ID }

// Name is the effect's name in logs and the spec.
func (Pause) Name() string { return "Pause" }

// Step is one transition of one machine. From equals To of the step before it of the same machine. In two cases the composition itself sets
// the state of a machine: the synthesis of a body begins, and a turn's stream moves to another machine. Event is then the effect that
// causes this.
type Step struct {
	Machine string
	From    machine.Named
	Event   machine.Named
	To      machine.Named
	Effects []Effect
	Action  string // the row's action; empty for an ignored pair
	Why     string // why the pair was ignored; empty for a transition
}
