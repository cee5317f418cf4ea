package coordtest

// Race: several goroutines send events to one Coordinator through a queue, under the race detector.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

const (
	rounds    = 16 // sessions of a race
	writers   = 4
	letters   = 40 // events that each writer sends in a session
	mailbox   = 3  // places in the queue: writers wait for each other most of the time
	performer = 2  // goroutines that are handed the effects
)

// Race runs the machine as a driver does: several goroutines send events to one bounded queue, one takes them from it and
// steps the Coordinator, others are handed the effects. Each writer decides by what it saw last, so what it sends may be
// late by the time that it is taken; the owner refuses only what breaks the driver's contract by then (an identifier that is
// no longer fresh). After every step all invariants hold, and the step is one of the explored graph. The race detector and
// several numbers of processors (go test -race -cpu=1,2,4) make it worth its name.
func Race[S, E, F Value, G comparable](t *testing.T, sub Subject[S, E, F, G]) {
	t.Helper()
	graph, err := sub.Explore()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	taken, broken := sub.hammer(graph.steps())
	gomega.NewWithT(t).Expect(broken).To(gomega.BeEmpty())
	t.Logf("%d of %d events were not too late", taken, rounds*writers*letters)
	gomega.NewWithT(t).Expect(taken).To(gomega.BeNumerically(">", rounds*letters/2), "too little of what is sent is stepped")
}

// hammer returns how many steps were taken, and what does not hold.
func (sub Subject[S, E, F, G]) hammer(known map[pair[S, E]]machine.Edge[S, E, F]) (taken int, broken string) {
	for round := range uint64(rounds) {
		r := &race[S, E, F, G]{sub: sub, known: known, seen: sub.Seen, queue: make(chan E, mailbox), effects: make(chan F, mailbox)}
		r.owner = machine.NewCoordinator(sub.Table, sub.First, r.check)
		r.run(round)
		taken += r.taken
		if r.broken != "" {
			return taken, r.broken
		}
		if n := r.performed.Load(); n != r.asked {
			return taken, fmt.Sprintf("%d of %d effects were performed", n, r.asked)
		}
	}
	return taken, ""
}

// race is one session with several writers.
type race[S, E, F Value, G comparable] struct {
	sub       Subject[S, E, F, G]
	known     map[pair[S, E]]machine.Edge[S, E, F]
	queue     chan E
	effects   chan F
	performed atomic.Int64
	latest    atomic.Pointer[view[S, G]] // what writers go by

	// The owner's alone.
	owner  *machine.Coordinator[S, E, F]
	seen   G
	taken  int
	asked  int64
	broken string
}

// view is what is published after a step.
type view[S, G any] struct {
	state S
	seen  G
}

func (r *race[S, E, F, G]) run(round uint64) {
	r.latest.Store(&view[S, G]{r.owner.State(), r.seen})
	var sending, performing sync.WaitGroup
	for i := range uint64(writers) {
		sending.Go(func() { r.write(rand.New(rand.NewPCG(round, i))) })
	}
	for range performer {
		performing.Go(func() {
			for f := range r.effects {
				if f.Name() != "" {
					r.performed.Add(1)
				}
			}
		})
	}
	go func() { sending.Wait(); close(r.queue) }()
	for e := range r.queue {
		r.take(e)
	}
	close(r.effects)
	performing.Wait()
}

// write sends what a client, a worker or a timer might say, as far as it knows.
func (r *race[S, E, F, G]) write(pick *rand.Rand) {
	for range letters {
		now := r.latest.Load()
		may := r.sub.May(now.state, now.seen)
		r.queue <- may[pick.IntN(len(may))]
	}
}

func (r *race[S, E, F, G]) take(e E) {
	if r.broken != "" || !slices.Contains(r.sub.May(r.owner.State(), r.seen), e) {
		return
	}
	r.taken++
	for _, f := range r.owner.Step(e) {
		r.asked++
		r.effects <- f
	}
	r.latest.Store(&view[S, G]{r.owner.State(), r.seen})
}

// check is the Coordinator's hook: it sees every step before the effects are performed.
func (r *race[S, E, F, G]) check(tr machine.Transition[S, E, F]) {
	step := machine.Edge[S, E, F]{From: tr.From, Event: tr.Event, To: tr.To, Effects: tr.Effects}
	r.seen, r.broken = r.sub.Monitor.Watch(r.seen, step)
	if r.broken != "" {
		r.broken += " does not hold: " + Line(tr)
		return
	}
	want, is := r.known[pair[S, E]{tr.From, tr.Event}]
	if !is || want.To != tr.To || !slices.Equal(want.Effects, tr.Effects) {
		r.broken = "not a step of the explored machine: " + Line(tr)
	}
}
