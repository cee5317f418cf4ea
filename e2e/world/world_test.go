package world

// A call in a simulated world (decision 093). This file has the machine of the call: its time, its goroutines, its timers, its names and its random numbers follow from one seed.

import (
	"container/heap"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing/synctest"
	"time"

	"github.com/antiphon-rt/antiphon/internal/env"
)

// world runs one step at a time: the beginning of a goroutine, the call of a timer, the arrival of a packet or of an event. Before the next step it waits until
// every goroutine waits for something. The seed orders the steps that are due at the same moment. A world lives in a synctest bubble, whose clock it moves on.
type world struct {
	seed  uint64
	began time.Time

	mu    sync.Mutex
	steps stepHeap
	names map[string]int
	taken uint64            // steps so far
	adds  map[uint64]uint64 // by place in the code: the steps that it has added in the present step
}

// step is something that is due at a moment.
type step struct {
	due   time.Time
	order uint64 // among the steps that are due at the same moment
	do    func()
	place int // in the heap; -1 once it is not there any more
}

func newWorld(seed uint64) *world {
	return &world{seed: seed, began: time.Now(), names: map[string]int{}, adds: map[uint64]uint64{}}
}

// add plans a step after d.
func (w *world) add(d time.Duration, do func()) *step {
	place := caller()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &step{due: time.Now().Add(max(d, 0)), order: w.order(place), do: do}
	heap.Push(&w.steps, s)
	return s
}

// order returns the order of a step that is added now. It depends on the seed, on the present step and on the place in the code that adds it, and not on which of
// two goroutines comes first. The caller holds the lock.
func (w *world) order(place uint64) uint64 {
	w.adds[place]++
	return rand.NewPCG(w.seed^place, w.taken<<8|w.adds[place]).Uint64()
}

// places has the numbers of the places in the code that have called into a world.
var places sync.Map

// caller returns a number for the place in the code that calls into the world: the same in every build of the same code.
func caller() uint64 {
	var at [6]uintptr
	n := runtime.Callers(3, at[:])
	if place, known := places.Load(at); known {
		return place.(uint64) //nolint:forcetypeassert // nothing else is in it
	}
	h := fnv.New64a()
	frames := runtime.CallersFrames(at[:n])
	for {
		f, more := frames.Next()
		fmt.Fprintf(h, "%s %d ", f.Function, f.Line)
		if !more {
			places.Store(at, h.Sum64())
			return h.Sum64()
		}
	}
}

// source is a source of random times and decisions for one part of the world. Its draws do not depend on those of other parts.
type source struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// source returns the source of a part.
func (w *world) source(part string) *source {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part))
	return &source{rand: rand.New(rand.NewPCG(w.seed, h.Sum64()))}
}

// drop removes a step that has not begun. It reports whether it did.
func (w *world) drop(s *step) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.place < 0 {
		return false
	}
	heap.Remove(&w.steps, s.place)
	return true
}

// run runs steps until the condition holds, or the limit has passed. It reports whether the condition holds.
func (w *world) run(limit time.Duration, until func() bool) bool {
	end := time.Now().Add(limit)
	for !until() {
		w.mu.Lock()
		if len(w.steps) == 0 || w.steps[0].due.After(end) {
			w.mu.Unlock()
			return false
		}
		s := w.steps[0]
		if wait := time.Until(s.due); wait > 0 {
			w.mu.Unlock()
			<-time.After(wait)
			continue
		}
		heap.Pop(&w.steps)
		w.taken++
		clear(w.adds)
		w.mu.Unlock()
		go s.do()
		synctest.Wait()
	}
	return true
}

// pause waits for d, or until the context ends. It is for the goroutines of the world. Those whose contexts end at the same moment go on one after the other.
func (w *world) pause(ctx context.Context, d time.Duration) error {
	passed := make(chan struct{})
	s := w.add(d, func() { close(passed) })
	select {
	case <-passed:
	case <-ctx.Done():
		w.drop(s)
		w.turn()
	}
	return ctx.Err()
}

// turn waits for the begin of a further step at this moment. What several goroutines that one step wakes do next then has an order that the seed says.
func (w *world) turn() {
	begun := make(chan struct{})
	w.add(0, func() { close(begun) })
	<-begun
}

// number returns a random number from 0 to n-1.
func (r *source) number(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rand.IntN(n)
}

// between returns a random time.
func (r *source) between(from, to time.Duration) time.Duration {
	return from + time.Duration(r.number(int(to-from)/int(time.Millisecond)))*time.Millisecond
}

// chance is true in percent of the cases.
func (r *source) chance(percent int) bool { return r.number(100) < percent }

// machine is the world as the server sees it.
type machine struct{ *world }

var _ env.Env = machine{}

// Now implements env.Env.
func (m machine) Now() time.Time { return time.Now() }

// AfterFunc implements env.Env.
func (m machine) AfterFunc(d time.Duration, f func()) env.Timer { return timer{m.world, m.add(d, f)} }

// Go implements env.Env.
func (m machine) Go(f func()) { m.add(0, f) }

// NewID implements env.Env: the names count.
func (m machine) NewID(prefix string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names[prefix]++
	return fmt.Sprintf("%s%d", prefix, m.names[prefix])
}

type timer struct {
	w *world
	s *step
}

// Stop implements env.Timer.
func (t timer) Stop() bool { return t.w.drop(t.s) }

// clock is the world's time as the client sees it.
type clock struct{ *world }

// Now implements sdk.Clock.
func (c clock) Now() time.Duration { return time.Since(c.began) }

// AfterFunc implements sdk.Clock.
func (c clock) AfterFunc(d time.Duration, f func()) (stop func()) {
	s := c.add(d, f)
	return func() { c.drop(s) }
}

// stepHeap has the steps, the next one first.
type stepHeap []*step

func (h stepHeap) Len() int { return len(h) }

func (h stepHeap) Less(a, b int) bool {
	if h[a].due.Equal(h[b].due) {
		return h[a].order < h[b].order
	}
	return h[a].due.Before(h[b].due)
}

func (h stepHeap) Swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].place, h[b].place = a, b
}

// Push implements heap.Interface.
func (h *stepHeap) Push(x any) {
	s, _ := x.(*step)
	s.place = len(*h)
	*h = append(*h, s)
}

// Pop implements heap.Interface.
func (h *stepHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	s.place = -1
	*h = old[:len(old)-1]
	return s
}
