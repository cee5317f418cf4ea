package conform

// Compares session.fizz with the composition, and checks that faults in the composition are found.

import (
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// spoils are compositions with one thing wrong, whichever spec of a session they meet.
var spoils = map[string]func(from, to session.State, e session.Event, fx []session.Effect) (session.State, []session.Effect){
	"a turn that waits is forgotten": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		to.Waiting, to.Texted = 0, false
		return to, fx
	},
	"a reply is never owed": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		to.Owed = machine.Request{}
		return to, fx
	},
	"another request is owed": func(from, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		if to.Owed != from.Owed && owed(to) {
			to.Owed.Client += 7
		}
		return to, fx
	},
	"a turn does not interrupt": func(from, to session.State, e session.Event, fx []session.Effect) (session.State, []session.Effect) {
		if _, voice := e.(session.OfTurn); voice {
			to.Response = from.Response
		}
		return to, fx
	},
	"the first effect is lost": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		return to, fx[min(1, len(fx)):]
	},
	"the last effect comes twice": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		return to, append(slices.Clone(fx), fx[max(len(fx)-1, 0):]...)
	},
	"the last two effects are swapped": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		if n := len(fx); n > 1 {
			fx = slices.Clone(fx)
			fx[n-1], fx[n-2] = fx[n-2], fx[n-1]
		}
		return to, fx
	},
	"a response is said to be another": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		fx = slices.Clone(fx)
		for i, f := range fx {
			if end, is := f.(response.EmitTerminal); is {
				fx[i] = response.EmitTerminal{ID: end.ID + 1, Status: end.Status}
			}
		}
		return to, fx
	},
	"a reason is another": func(_, to session.State, _ session.Event, fx []session.Effect) (session.State, []session.Effect) {
		fx = slices.Clone(fx)
		for i, f := range fx {
			if d, is := f.(turn.DiscardTurn); is {
				fx[i] = turn.DiscardTurn{Turn: d.Turn, Reason: turn.NoWords}
			}
		}
		return to, fx
	},
}

func TestSession(t *testing.T) {
	m := sessionMachine()
	g := faithful(t, m)
	m.Next = func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		at.MS++
		return session.Next(s, at, e)
	}
	_, err := m.Compare(g)
	gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}), "it is heard further than it is")
}

// faithful compares the composition with its spec, and then each spoilt one but those that spoil what the spec is without.
func faithful(t *testing.T, m sessionSpec, without ...string) *graph.Graph {
	t.Helper()
	g := explored(t, m.Spec)
	figures, err := m.Compare(g)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Logf("%+v", figures)
	for name, spoil := range spoils {
		if !slices.Contains(without, name) {
			t.Run(name, func(t *testing.T) { differs(t, m, g, spoil) })
		}
	}
	return g
}

func differs(t *testing.T, m sessionSpec, g *graph.Graph,
	spoil func(from, to session.State, e session.Event, fx []session.Effect) (session.State, []session.Effect),
) {
	t.Helper()
	m.Next = func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		to, fx, steps := session.Next(s, at, e)
		to, fx = spoil(s, to, e, fx)
		return to, fx, steps
	}
	_, err := m.Compare(g)
	gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}))
}
