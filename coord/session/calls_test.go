package session

// The simulation of whole calls (make simulate).

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// TestCalls plays whole calls with a user, a client, a network with delay, loss and outages, and a server with its workers. After
// every step it checks all invariants of all machines, and what the client sees. At the end nothing goes on, and both ends agree.
// A failure prints its seed, the shortest plan that fails, and the steps of the call.
//
//	make simulate SEED=17    plays this one again, and prints all of it
//	make simulate N=1000000  plays that many
func TestCalls(t *testing.T) {
	if seed, again := os.LookupEnv("ANTIPHON_SEED"); again {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		c, broken := draw(n).play(Next, nil)
		t.Logf("%s%s", c.plan, c.w.story(""))
		if broken != "" {
			t.Fatal(report(n, broken, Next))
		}
		return
	}
	n := uint64(500)
	if runtime.GOOS == "js" { // it is ten times slower there
		n = 100
	}
	if more, asked := os.LookupEnv("ANTIPHON_SCHEDULES"); asked {
		var err error
		if n, err = strconv.ParseUint(more, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	seed, broken, sums := calls(n, Next)
	t.Logf("schedules=%d steps=%d minutes=%d turns=%d replies=%d", n, sums.steps.Load(), sums.time.Load()/60_000, sums.turns.Load(),
		sums.replies.Load())
	if broken != "" {
		t.Fatal(report(seed, broken, Next))
	}
}

// sums is what happened in many calls.
type sums struct{ steps, time, turns, replies atomic.Int64 }

// calls plays the first n seeds on all processors and returns the first that fails.
func calls(n uint64, next nextFunc) (seed uint64, broken string, all *sums) {
	all = &sums{}
	var at atomic.Uint64
	var mu sync.Mutex
	var playing sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		playing.Go(func() {
			for s := at.Add(1) - 1; s < n; s = at.Add(1) - 1 {
				c, what := draw(s).play(next, nil)
				all.steps.Add(int64(len(c.w.told)))
				all.time.Add(int64(c.now))
				all.turns.Add(int64(c.w.s.LastTurn))
				all.replies.Add(int64(c.w.s.LastResponse))
				if what == "" {
					continue
				}
				at.Store(n)
				mu.Lock()
				if broken == "" || s < seed {
					seed, broken = s, what
				}
				mu.Unlock()
			}
		})
	}
	playing.Wait()
	return seed, broken, all
}

// report is the seed, the plan and the story of a call that fails, without what it does not need for that.
func report(seed uint64, broken string, next nextFunc) string {
	p := shrink(draw(seed), broken, func(p plan) string {
		_, what := p.play(next, nil)
		return what
	})
	c, _ := p.play(next, nil)
	return "seed " + strconv.FormatUint(seed, 10) + ": " + broken + "\n" + p.String() + c.w.story(broken)
}

// speechless is a composition that decides well and does not say all of it: only the client can tell.
func speechless(effect func(Effect) bool) nextFunc {
	return func(s State, at playout.Position, e Event) (State, []Effect, []Step) {
		next, effects, steps := Next(s, at, e)
		return next, slices.DeleteFunc(slices.Clone(effects), effect), steps
	}
}

// misheard is a composition that is told something else of the playout than was said.
func misheard(change func(playout.Event) playout.Event) nextFunc {
	return func(s State, at playout.Position, e Event) (State, []Effect, []Step) {
		if p, is := e.(OfPlayout); is {
			e = OfPlayout{change(p.Event)}
		}
		return Next(s, at, e)
	}
}

// TestCallsFind plays mutants of the composition until a call fails.
func TestCallsFind(t *testing.T) {
	const enough = 2_000
	all := mutants()
	all["session.created is not sent"] = speechless(is[conn.AnnounceSession])
	all["speech_started is not sent"] = speechless(is[turn.EmitSpeechStarted])
	all["speech_stopped is not sent"] = speechless(is[turn.EmitSpeechStopped])
	all["started is not sent"] = speechless(is[playout.EmitStarted])
	all["stopped is not sent"] = speechless(is[playout.EmitStopped])
	all["cleared is not sent"] = speechless(is[playout.EmitCleared])
	all["refusals are not sent"] = speechless(is[response.RejectNotActive])
	all["texts are not sent"] = speechless(is[transcription.DeliverText])
	all["no body is started"] = speechless(is[response.StartBody])
	all["no body is cancelled"] = speechless(is[response.CancelBody])
	all["no stream is closed"] = speechless(is[transcription.CloseStream])
	all["no timer is armed"] = speechless(is[turn.ArmFallback])
	all["rejected is not sent"] = speechless(is[playout.EmitRejected])
	all["no ready is awaited"] = speechless(is[playout.AwaitReady])
	all["it goes on behind what was heard"] = misheard(func(e playout.Event) playout.Event {
		if r, is := e.(playout.Ready); is {
			r.At.MS += uint32(tick)
			return r
		}
		return e
	})
	all["it is cut behind what was heard"] = misheard(func(e playout.Event) playout.Event {
		if h, is := e.(playout.Heard); is {
			h.At.MS += uint32(tick)
			return h
		}
		return e
	})
	all["it panics when a timer is late"] = func(s State, at playout.Position, e Event) (State, []Effect, []Step) {
		if e, is := e.(OfTurn); is && e.Name() == "FallbackExpired" && turn.Open(s.Turn) == 0 {
			panic("late")
		}
		return Next(s, at, e)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		seed, broken, _ := calls(enough, all[name])
		if broken == "" {
			t.Errorf("%s: %d calls do not see it", name, enough)
			continue
		}
		t.Logf("%s: seed %d, %s", name, seed, broken)
	}
}

// TestCallsFindRows: a row that is missing leaves its event to the row behind it, which ignores it. No invariant of the
// machine is broken by that: only time tells, since what is owed never comes.
func TestCallsFindRows(t *testing.T) {
	deleted(t, &turn.Table, "Confirm")
	deleted(t, &turn.Table, "Reject")
	deleted(t, &turn.Table, "PassGate")
	deleted(t, &turn.Table, "CommitOnFallback")
	deleted(t, &response.Table, "Drained")
	deleted(t, &response.Table, "Replace")
	deleted(t, &playout.Table, "Drained")
	deleted(t, &transcription.Table, "Deliver")
}

// deleted plays calls without the rows of an action.
func deleted[S, E machine.Named, F any](t *testing.T, table *machine.Table[S, E, F], action string) {
	t.Helper()
	whole := *table
	defer func() { *table = whole }()
	*table = slices.DeleteFunc(slices.Clone(whole), func(r machine.Row[S, E, F]) bool { return r.Action == action && r.Guard != "" })
	gomega.NewWithT(t).Expect(len(*table)).To(gomega.BeNumerically("<", len(whole)), action+": there is no such row with a guard")
	seed, broken, _ := calls(2_000, Next)
	if broken == "" {
		t.Errorf("without %s: 2000 calls do not see it", action)
		return
	}
	t.Logf("without %s: seed %d, %s", action, seed, broken)
}

// TestCallsShrink: what is reported of a failure is what it needs, and fails in the same way when it is played again.
func TestCallsShrink(t *testing.T) {
	g := gomega.NewWithT(t)
	next := mutants()["a text is forgotten"]
	seed, broken, _ := calls(2_000, next)
	p := draw(seed)
	small := shrink(p, broken, func(p plan) string { _, what := p.play(next, nil); return what })
	_, what := small.play(next, nil)
	g.Expect(what).To(gomega.Equal(broken))
	g.Expect(len(small.wishes)).To(gomega.BeNumerically("<=", 4), small.String())
	g.Expect(report(seed, broken, next)).To(gomega.And(
		gomega.HavePrefix("seed "+strconv.FormatUint(seed, 10)+": "+broken+"\n"),
		gomega.ContainSubstring("speak"), gomega.ContainSubstring("turn Onset"), gomega.ContainSubstring("transcription Done"),
	))
}

// TestCallsAreRepeatable: a seed is one call, however often it is played.
func TestCallsAreRepeatable(t *testing.T) {
	g := gomega.NewWithT(t)
	for seed := range uint64(20) {
		first, _ := draw(seed).play(Next, nil)
		again, _ := draw(seed).play(Next, nil)
		g.Expect(again.w.told).To(gomega.Equal(first.w.told))
		g.Expect(again.w.s).To(gomega.Equal(first.w.s))
		g.Expect(again.heard).To(gomega.Equal(first.heard))
	}
}

// unreachable are rows that no session takes: what is live is cut off before a turn creates, and a turn that ends with
// the session gives up its stream itself.
var unreachable = []string{
	"response Active + CreateByTurn, Supersede",
	"response Active + CreateByTurn, RejectCreateByTurn",
	"response Replacing + CreateByTurn, Requeue",
	"response Replacing + CreateByTurn, RejectCreateByTurn",
	"transcription Opening + Shutdown, Shutdown",
	"transcription Streaming + Shutdown, Shutdown",
}

// TestCallsReach: calls take every row of every machine that a session can take. What they never do they would prove
// nothing about.
func TestCallsReach(t *testing.T) {
	never := map[string]bool{}
	for _, row := range allRows() {
		never[row] = true
	}
	for seed := uint64(0); seed < 8_000 && len(never) > len(unreachable); seed++ {
		_, broken := draw(seed).play(Next, func(_ Event, st Step) {
			delete(never, rowOf(st))
		})
		if broken != "" {
			t.Fatal(report(seed, broken, Next))
		}
	}
	gomega.NewWithT(t).Expect(slices.Sorted(maps.Keys(never))).To(gomega.ConsistOf(unreachable))
}

// allRows are what the session's machines can do.
func allRows() []string {
	return slices.Concat(rows("conn", conn.Table), rows("turn", turn.Table), rows("response", response.Table),
		rows("playout", playout.Table), rows("synthesis", synthesis.Table), rows("transcription", transcription.Table))
}

// rowOf is the row that a step took, as rows has it.
func rowOf(st Step) string {
	name, _, _ := strings.Cut(st.Machine, ".")
	return name + " " + st.From.Name() + " + " + st.Event.Name() + ", " + st.Action
}

// rows are those of a table that do something.
func rows[S, E machine.Named, F any](name string, t machine.Table[S, E, F]) []string {
	var out []string
	for _, r := range t {
		if r.Action != "" {
			out = append(out, name+" "+r.From+" + "+r.Event+", "+r.Action)
		}
	}
	return out
}
