package session

// Mutants of the composition: steps with one fault. An invariant must notice each of them.

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// sample is one explored edge of a kind, and the shortest way to it.
type sample struct {
	before Seen
	edge   Edge
}

// samples explores d and keeps one edge for each kind: the states, the event and the effects by name.
func samples(d domain) []sample {
	known := map[string]bool{}
	var out []sample
	_, _, _ = explore(d, 200_000, Next, func(before Seen, e Edge) (Seen, string) {
		kind := fmt.Sprintf("%T%T%T%T %s", e.From.Turn, e.From.Response, e.From.Playout, e.From.Conn, eventText(e.Event))
		for _, f := range e.Effects {
			kind += " " + f.Name()
		}
		if !known[kind] {
			known[kind] = true
			out = append(out, sample{before, e})
		}
		return See(before, e), ""
	})
	return out
}

// fault is an edge with one fault, and the fault's name.
type fault struct {
	what   string
	before Seen
	edge   Edge
}

// faults makes every one-place fault of an edge: each effect left out, doubled, swapped with the one before it and
// said of the next response; each part of the state held back; and all of it after the teardown.
func faults(before Seen, e Edge) []fault {
	late := before
	late.Down = true
	out := []fault{{"the same, but after the teardown", late, e}}
	effects := func(what string, f []Effect) {
		out = append(out, fault{what, before, Edge{e.From, e.Event, e.To, f}})
	}
	for i, f := range e.Effects {
		effects(f.Name()+" left out", slices.Delete(slices.Clone(e.Effects), i, i+1))
		effects(f.Name()+" doubled", slices.Insert(slices.Clone(e.Effects), i, f))
		if end, ok := f.(response.EmitTerminal); ok {
			other := slices.Clone(e.Effects)
			other[i] = response.EmitTerminal{ID: end.ID + 1, Status: end.Status}
			effects("EmitTerminal of the next response", other)
		}
		if i > 0 {
			swapped := slices.Clone(e.Effects)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			effects(f.Name()+" before "+e.Effects[i-1].Name(), swapped)
		}
	}
	for i := range reflect.TypeFor[State]().NumField() {
		to := e.To
		field := reflect.ValueOf(&to).Elem().Field(i)
		field.Set(reflect.ValueOf(e.From).Field(i))
		if to != e.To {
			out = append(out, fault{reflect.TypeFor[State]().Field(i).Name + " held back", before, Edge{e.From, e.Event, to, e.Effects}})
		}
	}
	return out
}

// TestInvariantsBite compares what each invariant sees of the faults with testdata/faults.txt. A fault that is not
// there is one machine's own affair, and its own invariants see it.
func TestInvariantsBite(t *testing.T) {
	seen := map[string]map[string]bool{} // by invariant, the faults
	for _, s := range samples(domains()[0]) {
		for _, f := range faults(s.before, s.edge) {
			after := See(f.before, f.edge)
			for _, inv := range Invariants {
				if inv.Holds(f.before, after, f.edge) {
					continue
				}
				if seen[inv.Name] == nil {
					seen[inv.Name] = map[string]bool{}
				}
				seen[inv.Name][f.what] = true
			}
		}
	}
	for _, inv := range Invariants {
		gomega.NewWithT(t).Expect(seen[inv.Name]).NotTo(gomega.BeEmpty(), inv.Name+" sees no fault")
	}
	datadriven.RunTest(t, "testdata/faults.txt", func(t *testing.T, d *datadriven.TestData) string {
		return strings.Join(slices.Sorted(maps.Keys(seen[d.Cmd])), "\n") + "\n"
	})
}

type nextFunc func(State, playout.Position, Event) (State, []Effect, []Step)

// deaf is a composition that forgets to tell one machine what the others decide: keep gives the machine's state back
// and says which effects are its own.
func deaf(keep func(from State, to *State), own func(Event) bool, effect func(Effect) bool) nextFunc {
	return func(s State, at playout.Position, e Event) (State, []Effect, []Step) {
		next, effects, steps := Next(s, at, e)
		if !own(e) {
			keep(s, &next)
			effects = slices.DeleteFunc(slices.Clone(effects), effect)
		}
		return next, effects, steps
	}
}

// forgets is a composition that does not keep one field of the state.
func forgets(field func(from State, to *State)) nextFunc {
	return func(s State, at playout.Position, e Event) (State, []Effect, []Step) {
		next, effects, steps := Next(s, at, e)
		field(s, &next)
		return next, effects, steps
	}
}

func is[T machine.Named](f Effect) bool { _, ok := f.(T); return ok }

func about[T Event](e Event) bool { _, ok := e.(T); return ok }

// dropsFailed is a composition that takes the end of a failed response for a cancellation: it drops the response's audio
// where that waits to be heard.
func dropsFailed(s State, at playout.Position, e Event) (State, []Effect, []Step) {
	next, effects, steps := Next(s, at, e)
	for i, f := range effects {
		end, ends := f.(response.EmitTerminal)
		if ends && end.Status == response.Failed && next.Queued.Has(end.ID) {
			next.Queued = next.Queued.without(end.ID)
			effects = slices.Insert(slices.Clone(effects), i+1, Effect(playout.Drop{Resp: end.ID}), Effect(playout.Truncate{Resp: end.ID}))
			break
		}
	}
	return next, effects, steps
}

// pausesLast is a composition whose Pause comes behind the other effects.
func pausesLast(s State, at playout.Position, e Event) (State, []Effect, []Step) {
	next, effects, steps := Next(s, at, e)
	if len(effects) > 1 && is[Pause](effects[0]) {
		effects = append(slices.Clone(effects[1:]), effects[0])
	}
	return next, effects, steps
}

// mutants are compositions with one fault.
func mutants() map[string]nextFunc {
	return map[string]nextFunc{
		"the turn is not told":     deaf(func(a State, b *State) { b.Turn = a.Turn }, about[OfTurn], is[turn.Effect]),
		"the response is not told": deaf(func(a State, b *State) { b.Response = a.Response }, about[OfResponse], is[response.Effect]),
		"the playout is not told":  deaf(func(a State, b *State) { b.Playout = a.Playout }, about[OfPlayout], is[playout.Effect]),
		"the synthesis is not told": deaf(func(a State, b *State) { b.Synthesis = a.Synthesis }, about[OfSynthesis],
			is[synthesis.Effect]),
		"the recogniser is not told": deaf(func(a State, b *State) { b.Live, b.Final, b.Older = a.Live, a.Final, a.Older },
			about[OfTranscription], is[transcription.Effect]),
		"a failed response is dropped": dropsFailed,
		"the sound stops last":         pausesLast,
		"the connection is not told":   deaf(func(a State, b *State) { b.Conn = a.Conn }, about[OfConn], is[conn.Effect]),
		"a waiting turn is forgotten":  forgets(func(_ State, b *State) { b.Waiting = 0 }),
		"a text is forgotten":          forgets(func(_ State, b *State) { b.Texted = false }),
		"a queued reply is forgotten":  forgets(func(_ State, b *State) { b.Queued = Queue{} }),
		"a reply is never owed":        forgets(func(_ State, b *State) { b.Owed = machine.Request{} }),
		"a reply is always owed":       forgets(func(_ State, b *State) { b.Owed.Client = uint64(b.LastResponse) }),
		"turns have no identity":       forgets(func(_ State, b *State) { b.LastTurn = 0 }),
		"responses have no identity":   forgets(func(_ State, b *State) { b.LastResponse = 0 }),
	}
}

// TestMutantsAreSeen walks every mutant until an invariant does not hold, as testdata/mutants.txt tells.
func TestMutantsAreSeen(t *testing.T) {
	all := mutants()
	n, unseen := len(all), 0
	datadriven.RunTest(t, "testdata/mutants.txt", func(t *testing.T, d *datadriven.TestData) string {
		name := strings.TrimSpace(d.Input)
		next, known := all[name]
		if !known {
			d.Fatalf(t, "there is no mutant %q", name)
		}
		delete(all, name)
		for _, domain := range domains() {
			if _, _, broken := explore(domain, 50_000, next, Watch); broken != nil {
				return broken.story(domain)
			}
		}
		unseen++
		return "nobody sees it\n"
	})
	gomega.NewWithT(t).Expect(all).To(gomega.BeEmpty(), "mutants that testdata/mutants.txt does not name")
	t.Logf("session: mutants=%d invariant=%d shape=0 graph=0 survivors=%d", n, n-unseen, unseen)
	gomega.NewWithT(t).Expect(unseen).To(gomega.BeZero(), "testdata/mutants.txt has mutants that nobody sees")
}
