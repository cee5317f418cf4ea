package world

// TestCalls plays calls by their seeds. ANTIPHON_SEED=n plays the call of one seed and prints all of it, ANTIPHON_CALLS=n plays the calls of the seeds below n. With
// ANTIPHON_PART=1 or 2 it plays only half of them. TestTheSameSeedIsTheSameCall plays the same calls twice.

import (
	"iter"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// One processor: the goroutines that one step wakes run in the order in which it wakes them, so that a seed plays the same call again.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// calls is how many calls TestCalls plays without ANTIPHON_CALLS.
const calls = 20

// asked returns the number in an environment variable, or other.
func asked(g *gomega.WithT, name string, other uint64) (n uint64, is bool) {
	text, is := os.LookupEnv(name)
	if !is {
		return other, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	g.Expect(err).NotTo(gomega.HaveOccurred(), name)
	return n, true
}

// TestCalls plays calls, and holds what the user heard to what the model is told.
func TestCalls(t *testing.T) {
	g := gomega.NewWithT(t)
	if seed, one := asked(g, "ANTIPHON_SEED", 0); one {
		c, wrong := play(t, seed)
		t.Logf("%s\n%s", c.log.String(), c.told(seed))
		g.Expect(wrong).To(gomega.BeEmpty())
		return
	}
	dials, takeovers := 0, 0
	for seed := range seeds(g) {
		c, wrong := play(t, seed)
		if len(wrong) > 0 {
			t.Errorf("%s\n%s", strings.Join(wrong, "\n"), c.told(seed))
		}
		dials, takeovers = dials+c.dials, takeovers+len(c.servers)-1
	}
	t.Logf("%d connections, %d takeovers", dials, takeovers)
}

// seeds returns the seeds that are to be played.
func seeds(g *gomega.WithT) iter.Seq[uint64] {
	n, _ := asked(g, "ANTIPHON_CALLS", calls)
	part, parted := asked(g, "ANTIPHON_PART", 0)
	return func(yield func(uint64) bool) {
		for seed := range n {
			if parted && seed%2 != part%2 {
				continue
			}
			if !yield(seed) {
				return
			}
		}
	}
}

// TestTheSameSeedIsTheSameCall plays calls twice: each end must do the same at the same moments, to the microsecond. Which end comes first within a microsecond does
// not count: that depends on the runtime of Go.
func TestTheSameSeedIsTheSameCall(t *testing.T) {
	g := gomega.NewWithT(t)
	for seed := range seeds(g) {
		one, _ := play(t, seed)
		two, _ := play(t, seed)
		for _, end := range []string{" client ", " server "} {
			first, second := linesOf(one.log.String(), end), linesOf(two.log.String(), end)
			g.Expect(len(first)).To(gomega.BeNumerically(">", 10), "seed %d: something happens at the%s", seed, end)
			for i := range min(len(first), len(second)) {
				g.Expect(second[i]).To(gomega.Equal(first[i]), "seed %d,%sline %d", seed, end, i)
			}
			g.Expect(second).To(gomega.HaveLen(len(first)))
		}
	}
}

// linesOf returns the lines of a log that are of one end.
func linesOf(log, end string) (lines []string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, end) {
			lines = append(lines, line)
		}
	}
	return lines
}
