package session

// The simulation of random schedules of a session, which are too long to explore.

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/onsi/gomega"
)

const (
	schedules = 20_000
	length    = 60 // events of a schedule, before it settles
)

// TestSimulation plays schedules that are too long for the exploration: many turns, many responses, late reports, changes of the
// settings and losses of the transport. The driver keeps its contract. After each schedule the session comes to rest. A failure
// prints the schedule as a story. ANTIPHON_SEED=n plays one again, and prints all of it.
func TestSimulation(t *testing.T) {
	first, n := uint64(0), uint64(schedules)
	if runtime.GOOS == "js" { // it is ten times slower there
		n /= 10
	}
	seed, again := os.LookupEnv("ANTIPHON_SEED")
	if again {
		var err error
		first, err = strconv.ParseUint(seed, 10, 64)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		n = 1
	}
	for seed := first; seed < first+n; seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(Config{Interrupt: r.IntN(4) > 0, CreateResponse: r.IntN(8) > 0, Reports: r.IntN(3) == 0}, r.IntN)
		broken := w.play(length)
		if again {
			t.Log(w.story(""))
		}
		if broken != "" {
			t.Fatalf("seed %d: %s\n%s\n%+v", seed, broken, w.story(broken), w.s)
		}
	}
}
