package check_test

// Compares our decision on liveness with FizzBee's, on random specifications.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

// agreeing is how many random specs are compared.
const agreeing = 100

// TestWhatFizzBeeFindsWeFind: its liveness check misses loops, but a loop that it finds is one.
func TestWhatFizzBeeFindsWeFind(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(27, 18))
	both, missed, live := 0, 0, 0
	for range agreeing {
		text := randomSpec(random)
		f := spec(t, text)
		r, err := check.Spec(t.Context(), f, check.Options{})
		g.Expect(err).NotTo(HaveOccurred(), text)
		switch theirs := theySay(t, f) == "true"; {
		case !theirs:
			g.Expect(r.Verdict).To(Equal(check.Failed), text)
			both++
		case r.Verdict == check.Failed:
			missed++
		default:
			live++
		}
	}
	t.Logf("live by both: %d, not live by both: %d, not live and missed by FizzBee: %d", live, both, missed)
	g.Expect(min(both, live)).To(BeNumerically(">", agreeing/10), "both outcomes are common")
}

// randomSpec walks among five places; some of its actions choose where to.
func randomSpec(random *rand.Rand) string {
	fairness := func() string { return []string{"", "fair ", "fair<strong> "}[random.IntN(3)] }
	var b strings.Builder
	b.WriteString(front("false") + "\naction Init:\n    at = 0\n")
	for i := range 3 + random.IntN(4) {
		fmt.Fprintf(&b, "\natomic %saction Go%d:\n    require at == %d\n", fairness(), i, random.IntN(5))
		if random.IntN(3) == 0 {
			fmt.Fprintf(&b, "    to = %soneof [%d, %d]\n    at = to\n", fairness(), random.IntN(5), random.IntN(5))
		} else {
			fmt.Fprintf(&b, "    at = %d\n", random.IntN(5))
		}
	}
	fmt.Fprintf(&b, "\n%s assertion Arrives:\n    return at >= %d\n",
		[]string{check.AlwaysEventually, check.EventuallyAlways}[random.IntN(2)], random.IntN(4))
	return b.String()
}
