package check_test

// Assertions about steps that consist of several pieces.

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// front is the front matter of a small spec.
func front(crash string) string {
	return "---\ndeadlock_detection: false\noptions:\n  max_actions: 20\n  max_concurrent_actions: 1" +
		"\n  crash_on_yield: " + crash + "\n---\n"
}

// TestAWholeStepIsHeldAgainstATransition: FizzBee compares what was before each choice with what is
// after it, so a step of two pieces may do twice what it must not.
func TestAWholeStepIsHeldAgainstATransition(t *testing.T) {
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), spec(t, front("false")+`
action Init:
    n = 0

atomic action Add:
    require n < 4
    n = n + 1
    any more in [0, 1]:
        n = n + more

transition assertion ByOne(before, after):
    return after.n - before.n <= 1
`), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Failed))
	g.Expect(r.Assertion).To(Equal("ByOne"))
	g.Expect(graph.Print(r.Trace)).To(Equal("  0  Init  [n = 0]\n  1  Add more=1  [n: 0 -> 2]\n"))
}

func TestAnActionThatChoosesForEver(t *testing.T) {
	g := NewWithT(t)
	_, err := check.Spec(t.Context(), spec(t, front("false")+`
action Init:
    n = 0

atomic action Spin:
    n = 1
    while n < 3:
        any by in [0, 2]:
            n = 1 + by
`), check.Options{})
	g.Expect(err).To(MatchError(ContainSubstring("Spin can choose more than 1000 times and not end")))
}

func TestInitMayChoose(t *testing.T) {
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), spec(t, front("false")+`
action Init:
    n = 0
    any first in [1, 2, 2]:
        n = first

atomic action Down:
    require n > 0
    n = n - 1
`), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Graph.Init).To(HaveLen(2))
	for _, n := range r.Graph.Init {
		g.Expect(r.Graph.Nodes[n].Vars["n"]).To(BeElementOf("1", "2"))
	}
	g.Expect(graph.Print(r.Graph.Run(r.Graph.PathTo(func(n int) bool { return r.Graph.Nodes[n].Vars["n"] == "0" })))).To(
		Equal("  0  Init  [n = 1]\n  1  Down  [n: 1 -> 0]\n"))
}

// TestWhatHasBegunGoesOn: an action that yields half-way may crash there, but is not left there for ever.
func TestWhatHasBegunGoesOn(t *testing.T) {
	const serial = `
action Init:
    begun = 0
    ended = 0

serial action Work:
    require begun == 0
    begun = 1
    ended = 1

`
	const settles = "eventually always assertion Settles:\n    return begun == ended\n"
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), spec(t, front("false")+serial+settles), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Passed))
	g.Expect(r.Graph.Edges).To(HaveLen(2))
	g.Expect(r.Graph.Edges[0].Fair).To(Equal(graph.Unfair), "it need not begin")
	g.Expect(r.Graph.Edges[1].Label()).To(Equal("Work/thread-0"))
	g.Expect(r.Graph.Edges[1].Fair).To(Equal(graph.Strong))
	g.Expect(r.Graph.Nodes[1].Inner).To(HaveKey("thread-0"), "what it waits in tells it from a state with the same variables")

	r, err = check.Spec(t.Context(), spec(t, front("true")+serial+settles), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Failed))
	g.Expect(graph.Print(r.Trace)).To(MatchRegexp(`(?s)^  0  Init.*  1  Work  .*  2  crash  \[thread-0 is gone\]\nthen, for ever:\n  3  nothing more happens\n$`))
}

func TestRolesAreStatesToo(t *testing.T) {
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), spec(t, front("false")+`
role Lamp:
    action Init:
        self.on = False

    atomic fair action Switch:
        self.on = not self.on

action Init:
    left = Lamp()
    right = Lamp()

exists assertion BothOn:
    return left.on and right.on
`), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Passed))
	g.Expect(r.Graph.Nodes).To(HaveLen(4))
	states := map[string]bool{}
	for _, n := range r.Graph.Nodes {
		states[n.All()["Lamp#0"]+n.All()["Lamp#1"]] = true
	}
	g.Expect(states).To(HaveLen(4), "what differs only in a role's fields is told apart")
	g.Expect(r.Graph.Edges[0].Label()).To(Equal("Lamp#0.Switch"))
}

func TestAFairChoice(t *testing.T) {
	const draw = `
action Init:
    drawn = 0

atomic fair action Draw:
    ball = HOW oneof [1, 2]
    drawn = ball

always eventually assertion Two:
    return drawn == 2
`
	g := NewWithT(t)
	for how, want := range map[string]check.Verdict{"": check.Failed, "fair": check.Passed, "fair<strong>": check.Passed} {
		r, err := check.Spec(t.Context(), spec(t, front("false")+strings.Replace(draw, "HOW", how, 1)), check.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Verdict).To(Equal(want), how)
	}
}
