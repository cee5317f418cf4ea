package response

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is what the monitor remembers of earlier steps. Identifiers count up, so one number is enough to know all older ones.
type Seen struct {
	Newest    ID // the newest response that an event named
	Announced ID // the newest response that was announced
	Live      ID // the response that is announced and has not ended; 0 is none
	Body      ID // the response whose body runs; 0 is none
	Down      bool
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

func atMostOneLive(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ EmitCreated) bool { return g.Live == 0 })
}

func atMostOneBody(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ StartBody) bool { return g.Body == 0 })
}

func exactlyOneTerminal(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, t EmitTerminal) bool { return t.ID == g.Live || t.ID > g.Announced })
	return once && Live(step.To) == after.Live
}

func terminalAfterCreated(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, t EmitTerminal) bool { return t.ID <= g.Announced })
}

func noStartAfterShutdown(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ EmitCreated) bool { return !g.Down }) &&
		machine.Every(before, step, func(g Seen, _ StartBody) bool { return !g.Down })
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	e, ended := step.Event.(BodyEnded)
	return !ended || e.ID == before.Body || step.From == step.To && len(step.Effects) == 0
}

func doneOnceAndLast(_, after Seen, step edge) bool {
	_, ended := step.From.(Terminated)
	_, ends := step.To.(Terminated)
	return ends == (after.Down && after.Live == 0 && after.Body == 0) && (!ended || len(step.Effects) == 0)
}

func bodyIsLiveOrCancelled(before, after Seen, step edge) bool {
	ok := machine.Every(before, step, func(g Seen, f StartBody) bool { return f.ID == g.Live }) &&
		machine.Every(before, step, func(g Seen, f CancelBody) bool { return f.ID == g.Body })
	orphaned := before.Body != 0 && before.Live == before.Body && after.Body == before.Body && after.Live != before.Body
	return ok && machine.Once[CancelBody](step, orphaned)
}

func everyRequestIsAnswered(before, _ Seen, step edge) bool {
	if before.Down {
		return true
	}
	once := func(answers ...Effect) bool {
		n := 0
		for _, f := range step.Effects {
			if slices.Contains(answers, f) {
				n++
			}
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
