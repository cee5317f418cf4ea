package session

// The state, the settings, the events and the effects of a session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Config has those settings of a session that decide transitions. A new one holds
// from its Configure event on.
type Config struct {
	// Interrupt is turn_detection.interrupt_response: speech may cut the agent off.
	Interrupt bool
	// CreateResponse is turn_detection.create_response: a turn that the detector
	// commits gets a response.
	CreateResponse bool
	// Reports: the client predicts barge-ins (antiphon.hello with barge_in). It ducks the agent itself, sends
	// its candidates, and reports what was heard.
	Reports bool
}

// State is the whole session: the machines' states and what lies between them.
// It is comparable; the zero value is not valid, New makes the first one.
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

	// Waiting is the committed turn that is still to be answered, or 0: its text
	// is awaited, or (Texted) a response that it must not interrupt is live.
	Waiting turn.ID
	Texted  bool
	// Begun is the newest response whose audio has begun, or waits to; 0 is none.
	Begun response.ID
	// Queued are the responses whose audio waits for the one before it.
	Queued Queue
	// Owed is the request of the newest response, until that is heard to its end or given up by the client; the zero
	// value is none. A response that is lost to a false barge-in is created again for it.
	Owed id.Request

	// LastTurn and LastResponse are the newest identifiers: fresh ones count up.
	LastTurn     turn.ID
	LastResponse response.ID
}

// New is a session that waits for its transport and its back ends.
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
	// Cancel, or a body's BodyEnded. The others are made here and ignored from outside.
	OfResponse struct{ response.Event }
	// OfPlayout is Begin, Drained, the client's Clear, what it reports (Ready, Heard), or that it did
	// not in time (ReadyExpired, HeardExpired); Begin's Candidate and Clear's Heard are filled in here.
	// The others are made here and ignored from outside.
	OfPlayout struct{ playout.Event }
	// OfSynthesis is Enqueue, Finish or WorkerExited of the body that runs.
	OfSynthesis struct{ synthesis.Event }
	// OfTranscription is Ready, Refuse, EOU, Resumed, Done or Failed of one turn's stream.
	OfTranscription struct{ transcription.Event }
	// Configure changes what decides transitions.
	Configure struct{ Config Config }
)

func (OfConn) event()          {}
func (OfTurn) event()          {}
func (OfResponse) event()      {}
func (OfPlayout) event()       {}
func (OfSynthesis) event()     {}
func (OfTranscription) event() {}
func (Configure) event()       {}

// Name is the event's name in logs and the spec; the others have their own event's.
func (Configure) Name() string { return "Configure" }

// Effect is an effect of one of the machines, as the driver is to perform it.
// An effect that was also routed to another machine stays in its place, so that the order
// of all effects is kept. A driver has nothing to do for some of these, such as turn.BargeIn.
type Effect = machine.Named

// Pause is the composition's own effect: the sound of Resp, which plays, stops at once. It is the first effect of every
// step that holds or drops the response that plays, and comes in no other: how far that response was heard was counted
// when the event came, so nothing more of it may go out while the other effects are performed.
type Pause struct{ Resp response.ID }

// Name is the effect's name in logs and the spec.
func (Pause) Name() string { return "Pause" }

// Step is one transition of one machine, in the order in which they happened. The
// From of each is the To of the machine's step before it. Where the composition itself
// gives a machine its state (a body's synthesis begins, a turn's stream is
// handed over), Event is the effect that it follows.
type Step struct {
	Machine string
	From    machine.Named
	Event   machine.Named
	To      machine.Named
	Effects []Effect
	Action  string // the row's action; empty for an ignored pair
	Why     string // why the pair was ignored; empty for a transition
}
