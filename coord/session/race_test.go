package session

// Sessions with real goroutines and a queue, under the race detector.

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/antiphon-rt/antiphon/coord/conn"
)

// TestRace runs sessions as the server does. The detector, the client, the workers and the network are goroutines. They send
// events to one bounded queue, based on the state that they saw last, so an event may be late. One goroutine owns the session and
// takes the events. It refuses only events that the contract does not allow any more. The test checks all invariants, also those
// of the single machines.
func TestRace(t *testing.T) {
	const rounds, writers, letters = 16, 4, 60
	taken := 0
	for round := range uint64(rounds) {
		d := domains()[round%uint64(len(domains()))]
		w := newWorld(d.config, nil)
		var latest atomic.Pointer[node]
		latest.Store(&node{w.s, w.g})
		queue := make(chan Event, 3)
		var sending sync.WaitGroup
		for i := range uint64(writers) {
			sending.Go(func() {
				pick := rand.New(rand.NewPCG(round, i))
				for range letters {
					now := latest.Load()
					may := d.may(now.s, now.g)
					if e := may[pick.IntN(len(may))]; !ends(e) || pick.IntN(20) == 0 {
						queue <- e
					}
				}
			})
		}
		go func() { sending.Wait(); close(queue) }()
		broken := ""
		for e := range queue {
			if broken != "" || !slices.Contains(d.may(w.s, w.g), e) {
				continue
			}
			taken++
			broken = w.take(e)
			latest.Store(&node{w.s, w.g})
		}
		if broken != "" {
			t.Fatalf("round %d: %s\n%s", round, broken, w.story(broken))
		}
	}
	if taken < rounds*letters {
		t.Fatalf("only %d events were taken", taken)
	}
}

// ends reports whether e is the last event of a session's client.
func ends(e Event) bool { return e == OfConn{conn.Close{Reason: conn.ByClient}} }
