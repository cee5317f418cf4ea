package turn

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const (
	newest    = 2 // largest identifier of the explored domain
	newestGen = 2 // largest generation of a timer or a gate's asking
	fallback  = 4000
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:  Table,
	First:  Idle{},
	States: []State{Idle{}, Candidate{}, Speaking{}, Confirming{}},
	Events: []Event{
		Onset{},
		ClientCandidate{},
		Sustained{},
		Misfire{},
		Silence{},
		EndOfUtterance{},
		VoiceResumed{},
		FallbackExpired{},
		GatePassed{},
		GateRefused{},
		Commit{},
		Clear{},
		NoSpeech{},
		IdleTimeout{},
		Shutdown{},
	},
	Monitor: Monitor,
	May:     may,
	Limits:  "turns 1 and 2, generations to 2",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "commits as if the detector had", From: "Speaking", Event: "Commit", Action: "CommitByClient",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			return next, []Effect{f[0], CommitTurn{Turn: f[1].(CommitTurn).Turn}}
		},
	}},
}

// may offers fresh turns, what any known turn may still be said of, and answers
// of timers and gates of every generation that was given out.
func may(s State, g Seen) []Event {
	out := []Event{Clear{}, Shutdown{}}
	if fresh := g.Newest + 1; fresh <= newest {
		out = append(out, Onset{fresh, false}, Onset{fresh, true}, ClientCandidate{fresh}, Commit{fresh}, IdleTimeout{fresh})
	}
	for t := ID(1); t <= g.Newest; t++ {
		out = append(out, Sustained{t}, Misfire{t}, Silence{t, 0},
			EndOfUtterance{t, false, false}, EndOfUtterance{t, false, true},
			EndOfUtterance{t, true, false}, EndOfUtterance{t, true, true})
		gen := generation(s, t)
		for old := range gen {
			out = append(out, FallbackExpired{t, old}, GatePassed{t, old}, NoSpeech{t, old}, GateRefused{t, old, fallback})
		}
		if g.Armed == gen && gen > 0 {
			out = append(out, FallbackExpired{t, gen})
		}
		out = append(out, GatePassed{t, gen}, NoSpeech{t, gen})
		if gen < newestGen {
			out = append(out, VoiceResumed{t}, Silence{t, fallback}, GateRefused{t, gen, fallback})
		}
	}
	return out
}

// generation is the newest of turn t, or 1 where t is not open: late answers come then too.
func generation(s State, t ID) uint32 {
	switch s := s.(type) {
	case Speaking:
		if s.Turn == t {
			return s.Gen
		}
	case Confirming:
		if s.Turn == t {
			return s.Gen
		}
	case Idle, Candidate:
	}
	return 1
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())

	t.Run("CandidateEnds by a verdict", func(t *testing.T) {
		verdict := func(_ State, e Event) bool {
			_, confirmed := e.(Sustained)
			_, rejected := e.(Misfire)
			return confirmed || rejected
		}
		candidate := func(s State) bool { _, is := s.(Candidate); return is }
		decided := func(_, next State) bool { return !candidate(next) }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, candidate, verdict, decided)).To(gomega.BeEmpty())
	})
	t.Run("GateAnswers end the waiting", func(t *testing.T) {
		answer := func(_ State, e Event) bool { _, is := e.(GatePassed); return is }
		confirming := func(s State) bool { _, is := s.(Confirming); return is }
		committed := func(_, next State) bool { return next == Idle{} }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, confirming, answer, committed)).To(gomega.BeEmpty())
	})
	t.Run("EveryTurnEnds in silence", func(t *testing.T) {
		silence := func(_ State, e Event) bool {
			_, silent := e.(Silence)
			_, expired := e.(FallbackExpired)
			_, passed := e.(GatePassed)
			return silent || expired || passed
		}
		open := func(s State) bool { _, candidate := s.(Candidate); return Open(s) != 0 && !candidate }
		ended := func(_, next State) bool { return next == Idle{} }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, open, silence, ended)).To(gomega.BeEmpty())
	})
}
