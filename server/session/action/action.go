// Package action has what a component of a session asks the actor to do: to send an event to the client, or to step the
// state machines. A component returns its actions in order and the actor performs them in that order.
package action

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/wire"
)

// Action is one of Send, Step, Later, Fail.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Send sends Event to the client and to everybody who receives the session's events. Sent, when not nil, is called by
	// the link's goroutine once the event is on its way.
	Send struct {
		Event wire.ServerEvent
		Sent  func()
	}
	// Step runs Event through the state machines at once.
	Step struct{ Event coord.Event }
	// Later runs Event through the state machines after the event in hand and everything that follows from it.
	Later struct{ Event coord.Event }
	// Fail answers the client event in hand with an error event.
	Fail struct{ Failure *fault.Failure }
)

func (Send) action()  {}
func (Step) action()  {}
func (Later) action() {}
func (Fail) action()  {}

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

// Step appends a Step.
func (l *List) Step(e coord.Event) { *l = append(*l, Step{e}) }

// Later appends a Later.
func (l *List) Later(e coord.Event) { *l = append(*l, Later{e}) }
