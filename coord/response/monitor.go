package response

// The monitor of the machine: its invariants, and what they remember of earlier steps.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of earlier steps. Identifiers count up, so one number is enough to know all older ones.
type Seen struct {
	Newest    ID // the newest response that an event named
	Announced ID // the newest response that was announced
	Live      ID // the response that is announced and has not ended; 0 is none
	Body      ID // the response whose body runs; 0 is none
	Down      bool
}

// Monitor checks the invariants of the machine after every step. The explore tests and the simulation use it.
var Monitor = machine.Monitor[State, Event, Effect, Seen]{
	See: machine.See[State, Event, Effect, Seen],
	Invariants: []machine.Invariant[State, Event, Effect, Seen]{
		{Name: "AtMostOneLive", Holds: atMostOneLive},
		{Name: "AtMostOneBody", Holds: atMostOneBody},
		{Name: "ExactlyOneTerminal", Holds: exactlyOneTerminal},
		{Name: "TerminalAfterCreated", Holds: terminalAfterCreated},
		{Name: "NoStartAfterShutdown", Holds: noStartAfterShutdown},
		{Name: "StaleIsHarmless", Holds: staleIsHarmless},
		{Name: "DoneOnceAndLast", Holds: doneOnceAndLast},
		{Name: "BodyIsLiveOrCancelled", Holds: bodyIsLiveOrCancelled},
		{Name: "EveryRequestIsAnswered", Holds: everyRequestIsAnswered},
	},
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
	case Create:
		g.Newest = max(g.Newest, e.ID)
	case CreateByTurn:
		g.Newest = max(g.Newest, e.ID)
	case BodyEnded:
		if e.ID == g.Body {
			g.Body = 0
		}
	case Shutdown:
		g.Down = true
	case Cancel, BargeIn:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case EmitCreated:
		g.Announced, g.Live = f.ID, f.ID
	case EmitTerminal:
		if g.Live == f.ID {
			g.Live = 0
		}
	case StartBody:
		g.Body = f.ID
	case CancelBody, RejectActive, RejectNotActive:
	}
	return g
}

// atMostOneLive: a response is announced only when the one before it has ended.
func atMostOneLive(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ EmitCreated) bool { return g.Live == 0 })
}

// atMostOneBody: a body starts only when the body before it has returned, cancelled or not.
func atMostOneBody(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ StartBody) bool { return g.Body == 0 })
}

// exactlyOneTerminal: every announced response gets one terminal event.
func exactlyOneTerminal(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, t EmitTerminal) bool { return t.ID == g.Live || t.ID > g.Announced })
	return once && Live(step.To) == after.Live
}

// terminalAfterCreated: a response that was not announced gets no terminal event.
func terminalAfterCreated(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, t EmitTerminal) bool { return t.ID <= g.Announced })
}

// noStartAfterShutdown: after the shutdown no response is announced and no body starts.
func noStartAfterShutdown(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ EmitCreated) bool { return !g.Down }) &&
		machine.Every(before, step, func(g Seen, _ StartBody) bool { return !g.Down })
}

// staleIsHarmless: the report of a body that does not run changes nothing.
func staleIsHarmless(before, _ Seen, step edge) bool {
	e, ended := step.Event.(BodyEnded)
	return !ended || e.ID == before.Body || step.From == step.To && len(step.Effects) == 0
}

// doneOnceAndLast: after the shutdown the machine ends when no response is live and no body runs. No effect comes after that.
func doneOnceAndLast(_, after Seen, step edge) bool {
	_, ended := step.From.(Terminated)
	_, ends := step.To.(Terminated)
	return ends == (after.Down && after.Live == 0 && after.Body == 0) && (!ended || len(step.Effects) == 0)
}

// bodyIsLiveOrCancelled: a body starts for the live response. If the response ends before its body, the body is cancelled. Only a
// body that runs is cancelled.
func bodyIsLiveOrCancelled(before, after Seen, step edge) bool {
	ok := machine.Every(before, step, func(g Seen, f StartBody) bool { return f.ID == g.Live }) &&
		machine.Every(before, step, func(g Seen, f CancelBody) bool { return f.ID == g.Body })
	orphaned := before.Body != 0 && before.Live == before.Body && after.Body == before.Body && after.Live != before.Body
	return ok && machine.Once[CancelBody](step, orphaned)
}

// everyRequestIsAnswered: until the shutdown, every Create leads to an announced response or is refused. A turn that may interrupt is never
// refused. Every Cancel ends the response that it names, or is refused.
func everyRequestIsAnswered(before, _ Seen, step edge) bool {
	if before.Down {
		return true
	}
	once := func(answers ...Effect) bool {
		n := 0
		for _, a := range answers {
			n += machine.Times(step, a)
		}
		return n == 1
	}
	switch e := step.Event.(type) {
	case Create:
		return once(EmitCreated(e), RejectActive{e.ID})
	case CreateByTurn:
		if e.Interrupt {
			return once(EmitCreated{e.ID, e.Request})
		}
		return once(EmitCreated{e.ID, e.Request}, RejectActive{e.ID})
	case Cancel:
		if before.Live != 0 && (e.Target == 0 || e.Target == before.Live) {
			return once(EmitTerminal{before.Live, ClientCancelled})
		}
		return once(RejectNotActive(e))
	case BargeIn, BodyEnded, Shutdown:
	}
	return true
}
