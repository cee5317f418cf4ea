package conform

// What the adapters of all session specifications have in common: they run events through coord/session.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// moment is one action of a session's spec: one event of the session's queue, or several that the spec has as one action.
type moment []session.Event

type nextFunc func(session.State, playout.Position, session.Event) (session.State, []session.Effect, []session.Step)

// sessionSpec is the adapter of one session specification. Events are those that the specification models, and Vars is the part of
// the state that it has. The comparison notices if the rest of the state matters: two sessions with the same Vars would then take
// different steps.
type sessionSpec struct {
	Spec string
	// First are the configurations that a session of the spec may begin with, and Begin
	// what happens before the spec does.
	First []session.Config
	Begin []session.Event

	Events func(session.State) []Labelled[moment]
	Vars   func(session.State) map[string]any
	// Next is the composition: session.Next, or a spoilt one in a test.
	Next nextFunc
	// Odd says what of a state the spec takes for granted and is not so, or "".
	Odd func(session.State) string

	stepped func(session.State, moment) // is shown every event that is compared, or nil
}

func (a sessionSpec) Name() string { return a.Spec }

// invariants are those of a whole session, which session.fizz has. The other specs have a part of them.
func (a sessionSpec) invariants() (names []string) {
	for _, inv := range session.Invariants {
		if a.Spec == "session" {
			names = append(names, inv.Name)
		}
	}
	return names
}

func (a sessionSpec) Compare(g *graph.Graph) (Figures, error) {
	type none struct{}
	var starts []Start[session.State, none]
	for _, config := range a.First {
		s, _, _ := a.meet(canonical(session.New(config)), a.Begin)
		starts = append(starts, Start[session.State, none]{State: s})
	}
	system := System[session.State, moment, said, none]{
		Spec: a.Spec, Starts: starts, Step: a.meet, Hidden: true, Ghosts: []string{"w"},
		Events: func(s session.State, _ none) []Labelled[moment] { return a.Events(s) },
		Vars: func(s session.State, _ none) map[string]string {
			out := map[string]string{"s": JSON(a.Vars(s))}
			if odd := a.Odd(s); odd != "" {
				out["beyond the spec"] = JSON(odd) // no spec has it: it is a difference
			}
			return out
		},
	}
	return system.Compare(g)
}

// meet runs the events of one action through the composition, and gives the next state its canonical form.
func (a sessionSpec) meet(s session.State, events moment) (session.State, []said, string) {
	if a.stepped != nil {
		a.stepped(s, events)
	}
	next, out, why := a.run(s, events)
	if why == NoRow {
		return s, nil, NoRow
	}
	next = canonicalAfter(s, next)
	if next != s || len(out) > 0 {
		why = "" // an event that no machine takes can still be answered, and change what is owed
	}
	return next, out, why
}

// run runs the events of one action through the composition. If all of them were ignored, why is the reason for the first one.
func (a sessionSpec) run(s session.State, events moment) (next session.State, out []said, why string) {
	next, why = s, "it changes nothing"
	for _, e := range events {
		to, effects, steps := a.Next(next, hereNow(s), e)
		for _, f := range effects {
			out = append(out, say(s, f))
		}
		for _, step := range steps {
			if step.Why == NoRow {
				return s, nil, NoRow
			}
			if why != "" {
				why = step.Why
			}
		}
		if request, created := createdFor(effects); created && owed(to) && to.Owed != request {
			out = append(out, said{"it owes another request than it answers"}) // no spec has it: it is a difference
		}
		next = to
	}
	return next, out, why
}

// createdFor returns the request of the last response that the effects announce. ok is false if they announce none.
func createdFor(effects []session.Effect) (request machine.Request, ok bool) {
	for _, f := range effects {
		if created, is := f.(response.EmitCreated); is {
			request, ok = created.Request, true
		}
	}
	return request, ok
}

// offers collects events with their labels.
type offers []Labelled[moment]

func (o *offers) add(label string, events ...session.Event) {
	*o = append(*o, Labelled[moment]{label, events})
}
