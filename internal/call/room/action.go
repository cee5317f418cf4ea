package room

// The actions of rooms.

import (
	"log/slog"

	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/wire"
)

// Action is one of Send, Answer, Fail, Step, StepAt, Later, Silence, Then, Committed, Said.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Send sends Event to the client and to everybody who receives the session's events. Sent, when not nil, is called by the link's goroutine once the event is on its way.
	Send struct {
		Event wire.ServerEvent
		Sent  func()
	}
	// Answer sends Event only to the client or controller that has sent the present client event.
	Answer struct{ Event wire.ServerEvent }
	// Fail answers the client event in hand with an error event.
	Fail struct{ Failure *Failure }
	// Step runs Event through the state machines at once.
	Step struct{ Event coord.Event }
	// StepAt is Step where the far end has heard the response on air up to At.
	StepAt struct {
		Event coord.Event
		At    playout.Position
	}
	// Later runs Event through the state machines after the event in hand and everything that follows from it.
	Later struct{ Event coord.Event }
	// Silence silences a response that is held and goes on: the sound over it is the user's voice.
	Silence struct{}
	// Then asks for further actions once those before it are performed. The actions depend on s, the state of the machines by then. They are
	// performed before the rest of the list.
	Then struct{ Next func(s *coord.State) List }
	// Committed says that Turn has become an item. A response may answer it. Timing belongs to the turn and to the response.
	Committed struct {
		Turn   turn.ID
		Timing *Timing
	}
	// Said has the words of a turn of the user that is transcribed. Text is empty if the transcription failed, or if the voice gate refuses the turn.
	Said struct {
		Turn turn.ID
		Text string
	}
)

func (Send) action()      {}
func (Answer) action()    {}
func (Fail) action()      {}
func (Step) action()      {}
func (StepAt) action()    {}
func (Later) action()     {}
func (Silence) action()   {}
func (Then) action()      {}
func (Committed) action() {}
func (Said) action()      {}

// List is actions in the order in which they are performed.
type List []Action

// Send appends a Send.
func (l *List) Send(e wire.ServerEvent) { *l = append(*l, Send{Event: e}) }

// SendAll appends a Send for each event.
func (l *List) SendAll(events []wire.ServerEvent) {
	for _, e := range events {
		l.Send(e)
	}
}

// Fail appends a Fail.
func (l *List) Fail(f *Failure) { *l = append(*l, Fail{f}) }

// Step appends a Step.
func (l *List) Step(e coord.Event) { *l = append(*l, Step{e}) }

// Later appends a Later.
func (l *List) Later(e coord.Event) { *l = append(*l, Later{e}) }

// Then appends a Then.
func (l *List) Then(next func(s *coord.State) List) { *l = append(*l, Then{next}) }

// LogStep logs a transition of a machine, which an action has led to.
func LogStep(log *slog.Logger, st coord.Step) {
	log.Debug("transition", "machine", st.Machine, "from", st.From.Name(), "event", st.Event.Name(), "action", st.Action,
		"to", st.To.Name(), "why", st.Why)
}

// Origin identifies the client's event that caused an action: its sender and its event_id; "" for none. The zero Origin is no client's event.
type Origin struct {
	Client bool                     // the client or a side-band controller sent it
	Side   *link.SidebandController // nil for the client
	Event  string
}

// Privileged reports whether the event may change locked fields.
func (o Origin) Privileged() bool { return o.Side != nil && o.Side.Rules }

// Counted acknowledges a client's event that the session has already taken, or whose request is carried out.
func (o Origin) Counted() List {
	return List{Answer{Event: &wire.AntiphonAck{Acknowledges: o.Event}}}
}

// Failed returns a Fail alone.
func Failed(f *Failure) List { return List{Fail{f}} }
