package conform

// The canonical form of a session loses nothing that the code needs.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// namesakes is how many states of one canonical form the walk meets.
const namesakes = 3

// TestCanonicalStatesStandForAll proves, for each specification of a session, that canonical removes nothing that the code asks
// for: canonical(Next(s)) is canonical(Next(canonical(s))), with the same effects, in states s whose identifiers are those that
// the code has counted. The gate compares canonical states only.
func TestCanonicalStatesStandForAll(t *testing.T) {
	for _, m := range []sessionSpec{
		sessionMachine(), sessionTextMachine(), sessionEndMachine(), sessionQueueMachine(), sessionReportsMachine(),
	} {
		t.Run(m.Spec, func(t *testing.T) {
			met, what := m.unlikeCanonical()
			gomega.NewWithT(t).Expect(what).To(gomega.BeEmpty())
			t.Logf("%d states", met)
		})
	}
}

// TestCanonicalStatesStandForAllBites plants compositions that ask for what a canonical state would have to keep.
func TestCanonicalStatesStandForAllBites(t *testing.T) {
	for name, next := range map[string]nextFunc{
		"every fourth turn is ignored": func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
			if _, onset := e.(session.OfTurn); onset && s.LastTurn > 3 {
				return s, nil, nil
			}
			return session.Next(s, at, e)
		},
		"the first segment has no end": func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
			if p, plays := s.Playout.(playout.Playing); plays && p.Gen == 1 {
				if _, drained := e.(session.OfPlayout); drained {
					return s, nil, nil
				}
			}
			return session.Next(s, at, e)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := sessionMachine()
			m.Next = next
			_, what := m.unlikeCanonical()
			gomega.NewWithT(t).Expect(what).NotTo(gomega.BeEmpty())
		})
	}
}

// unlikeCanonical walks the composition with the identifiers that it counts, and meets up to namesakes states of each canonical
// form. It returns how many states it met, and where a state and its canonical form do not do the same, or "".
func (a sessionSpec) unlikeCanonical() (met int, what string) {
	var queue []session.State
	same := map[session.State]int{}
	known := map[session.State]bool{}
	arrive := func(s session.State) {
		form := canonical(s)
		if !known[s] && same[form] < namesakes {
			known[s] = true
			same[form]++
			queue = append(queue, s)
		}
	}
	for _, config := range a.First {
		s, _, _ := a.run(session.New(config), a.Begin)
		arrive(s)
	}
	for ; met < len(queue); met++ {
		s := queue[met]
		form := canonical(s)
		if canonical(form) != form {
			return met, fmt.Sprintf("the canonical form of %+v changes when it is made again", s)
		}
		ofForm := a.Events(form)
		for i, l := range a.Events(s) {
			if i >= len(ofForm) || ofForm[i].Label != l.Label {
				return met, fmt.Sprintf("%s is offered in %+v, and not in its canonical form", l.Label, s)
			}
			next, effects, _ := a.run(s, l.Event)
			want, wanted, _ := a.run(form, ofForm[i].Event)
			if canonical(next) != canonical(want) || !slices.Equal(effects, wanted) {
				return met, fmt.Sprintf("%s in %+v:\ngoes to %+v with %v\nin its canonical form to %+v with %v", l.Label, s,
					canonical(next), effects, canonical(want), wanted)
			}
			arrive(next)
		}
	}
	return met, ""
}

// TestTailOfASilentClient plants a composition that takes the tail of a response to be ahead of any client, and not only of one
// that reports.
func TestTailOfASilentClient(t *testing.T) {
	m := sessionMachine()
	m.Next = func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		silent, is := s.Playout.(playout.Silent)
		of, voice := e.(session.OfTurn)
		if is && silent.Last != 0 && voice && of.Event == turn.Event(turn.ClientCandidate{}) {
			config := s.Config
			s.Config.Reports = true
			to, effects, steps := session.Next(s, at, e)
			to.Config = config
			return to, effects, steps
		}
		return session.Next(s, at, e)
	}
	_, err := m.Compare(explored(t, m.Spec))
	gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}))
}
