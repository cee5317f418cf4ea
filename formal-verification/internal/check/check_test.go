package check_test

// Tests of the verdict, the graph and the decided assertions of small specifications.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	ast "fizz/proto"
	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// counter counts to three by one or two; what is asserted follows.
const counter = `---
deadlock_detection: %v
options:
  max_actions: %d
  max_concurrent_actions: 1
  crash_on_yield: false
---

action Init:
    n = 0

atomic fair action Add:
    any by in [1, 2]:
        require n + by <= 3
        n = n + by

`

// room is more than the counter needs.
const room = 10

func spec(t *testing.T, text string) *ast.File {
	t.Helper()
	f, err := parse.File("dir/counter.fizz", []byte(text))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return f
}

func counting(t *testing.T, deadlock bool, most int, assertions ...string) *ast.File {
	t.Helper()
	return spec(t, fmt.Sprintf(counter, deadlock, most)+strings.Join(assertions, "\n"))
}

const (
	small   = "always assertion Small:\n    return n <= 3\n"
	tiny    = "always assertion Tiny:\n    return n <= 2\n"
	up      = "transition assertion Up(before, after):\n    return after.n >= before.n\n"
	byOne   = "transition assertion ByOne(before, after):\n    return after.n - before.n <= 1\n"
	three   = "exists assertion Three:\n    return n == 3\n"
	four    = "exists assertion Four:\n    return n == 4\n"
	ends    = "eventually always assertion Ends:\n    return n == 3\n"
	returns = "always eventually assertion Returns:\n    return n == 0\n"
)

func TestVerdicts(t *testing.T) {
	for name, test := range map[string]struct {
		file  *ast.File
		want  check.Verdict
		fails string
		trace string
	}{
		"everything holds": {
			counting(t, false, room, small, up, three, ends), check.Passed, "", "",
		},
		"an always assertion fails": {
			counting(t, false, room, small, tiny), check.Failed, "Tiny",
			"  0  Init  [n = 0]\n  1  Add by=1  [n: 0 -> 1]\n  2  Add by=2  [n: 1 -> 3]\n",
		},
		"a transition assertion fails": {
			counting(t, false, room, up, byOne), check.Failed, "ByOne",
			"  0  Init  [n = 0]\n  1  Add by=2  [n: 0 -> 2]\n",
		},
		"no state is as it should be": {
			counting(t, false, room, three, four), check.Failed, "Four", "",
		},
		"a liveness assertion fails": {
			counting(t, false, room, ends, returns), check.Failed, "Returns",
			"  0  Init  [n = 0]\n  1  Add by=1  [n: 0 -> 1]\n  2  Add by=2  [n: 1 -> 3]\nthen, for ever:\n  3  nothing more happens\n",
		},
		"nothing more is possible": {
			counting(t, true, room, small), check.Deadlock, "",
			"  0  Init  [n = 0]\n  1  Add by=1  [n: 0 -> 1]\n  2  Add by=2  [n: 1 -> 3]\n",
		},
		"an assertion comes before a deadlock": {
			counting(t, true, room, tiny), check.Failed, "Tiny",
			"  0  Init  [n = 0]\n  1  Add by=1  [n: 0 -> 1]\n  2  Add by=2  [n: 1 -> 3]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r, err := check.Spec(t.Context(), test.file, check.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Spec).To(Equal("counter"))
			g.Expect(r.Verdict).To(Equal(test.want))
			g.Expect(r.Assertion).To(Equal(test.fails))
			g.Expect(graph.Print(r.Trace)).To(Equal(test.trace))
			g.Expect(r.MaxActionsReached).To(BeFalse())
		})
	}
}

func TestGraphIsFromYieldToYield(t *testing.T) {
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), counting(t, false, room, small, three), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]int{r.Nodes, r.States}).To(Equal([]int{7, 4}), "a state is between actions, a node may be inside one")
	g.Expect(r.Graph.Nodes).To(Equal([]graph.Node{
		{Vars: map[string]string{"n": "0"}},
		{Vars: map[string]string{"n": "1"}},
		{Vars: map[string]string{"n": "2"}},
		{Vars: map[string]string{"n": "3"}},
	}))
	add := func(from, by int) graph.Edge {
		choice := graph.Choice{Var: "by", Value: fmt.Sprint(by)}
		return graph.Edge{From: from, To: from + by, Action: "Add", Choices: []graph.Choice{choice}, Fair: graph.Weak}
	}
	g.Expect(r.Graph.Edges).To(Equal([]graph.Edge{add(0, 1), add(0, 2), add(1, 1), add(1, 2), add(2, 1)}))
	g.Expect(r.Graph.Edges[1].Label()).To(Equal("Add by=2"))
	g.Expect(r.Graph.Init).To(Equal([]int{0}))
	g.Expect(r.Assertions).To(Equal([]check.Assertion{
		{Name: "Small", Kind: "always", Decided: true, Holds: true},
		{Name: "Three", Kind: "exists", Decided: true, Holds: true},
	}))
}

func TestEveryAssertionIsDecidedWhenExplorationIsWhole(t *testing.T) {
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), counting(t, true, room, four, small, returns, ends, three), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Deadlock))
	g.Expect(r.Assertions).To(Equal([]check.Assertion{
		{Name: "Four", Kind: "exists", Decided: true},
		{Name: "Small", Kind: "always", Decided: true, Holds: true},
		{Name: "Returns", Kind: "always eventually", Decided: true},
		{Name: "Ends", Kind: "eventually always", Decided: true, Holds: true},
		{Name: "Three", Kind: "exists", Decided: true, Holds: true},
	}))
}

func TestStopChecksOnlyWhatIsNamed(t *testing.T) {
	g := NewWithT(t)
	f := counting(t, true, room, tiny, four, returns, small)
	for name, want := range map[string]check.Verdict{
		"Tiny": check.Failed, "Four": check.Failed, "Returns": check.Failed, "Small": check.Passed,
	} {
		r, err := check.Spec(t.Context(), f, check.Options{Stop: []string{name}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Verdict).To(Equal(want), name)
		g.Expect(r.Assertions).To(HaveLen(1))
		if want == check.Failed {
			g.Expect(r.Assertion).To(Equal(name))
		}
	}
	_, err := check.Spec(t.Context(), f, check.Options{Stop: []string{"Tiny", "Misspelt"}})
	g.Expect(err).To(MatchError(ContainSubstring("Misspelt")), "what is not there cannot be checked")
}

func TestTheBoundIsReported(t *testing.T) {
	g := NewWithT(t)
	r, err := check.Spec(t.Context(), counting(t, false, 2, small), check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Passed))
	g.Expect(r.MaxActionsReached).To(BeTrue(), "three is two steps away, and nobody knows what comes then")
}

func TestLivenessCannotBeSwitchedOff(t *testing.T) {
	g := NewWithT(t)
	text := strings.Replace(fmt.Sprintf(counter, false, room), "---\n", "---\nliveness: \"false\"\n", 1) + returns
	_, err := check.Spec(t.Context(), spec(t, text), check.Options{})
	g.Expect(err).To(And(MatchError(check.ErrSpec), MatchError(ContainSubstring("switches liveness off"))))

	r, err := check.Spec(t.Context(), spec(t, text), check.Options{Plain: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(check.Passed))
	g.Expect(r.Assertions).To(Equal([]check.Assertion{{Name: "Returns", Kind: "always eventually"}}), "it is not decided")
}

func TestOptionsThatHideFailuresAreRefused(t *testing.T) {
	for _, line := range []string{
		"continue_on_invariant_failures: true",
		"continue_path_on_invariant_failures: true",
		"action_options:\n  Add:\n    max_actions: 1",
	} {
		g := NewWithT(t)
		text := strings.Replace(fmt.Sprintf(counter, false, room), "---\n", "---\n"+line+"\n", 1) + tiny
		_, err := check.Spec(t.Context(), spec(t, text), check.Options{})
		key, _, _ := strings.Cut(line, ":")
		g.Expect(err).To(And(MatchError(check.ErrSpec), MatchError(ContainSubstring(key))))
	}
}

func TestWhatCannotBeDecided(t *testing.T) {
	long := strings.Replace(fmt.Sprintf(counter, false, 1_000_000), "<= 3", "<= 1000000", 1)
	large := strings.NewReplacer("n = 0", "n = []", "require n + by <= 3", "pass", "n + by", "n + [0] * 100000").
		Replace(fmt.Sprintf(counter, false, room))
	for name, test := range map[string]struct {
		text string
		o    check.Options
		err  error
		says string
	}{
		"an expression that fails":  {fmt.Sprintf(counter, false, room) + "always assertion A:\n    return n[0] == 1\n", check.Options{}, check.ErrSpec, "unhandled index"},
		"a front matter that lies":  {strings.Replace(fmt.Sprintf(counter, false, room), "options", "optoins", 1), check.Options{}, check.ErrSpec, "optoins"},
		"a spec that has no end":    {long, check.Options{Timeout: 300 * time.Millisecond}, check.ErrTimeout, "300ms"},
		"a spec that is too large":  {large, check.Options{MemoryMB: 30}, check.ErrMemory, "30 MB"},
		"a loop inside an action":   {strings.Replace(long, "        n = n + by", "        while True:\n            n = n + by", 1), check.Options{Timeout: 300 * time.Millisecond}, check.ErrTimeout, "300ms"},
		"a spec that never begins":  {strings.Replace(fmt.Sprintf(counter, true, room), "    n = 0", "    n = 0\n    require n == 1", 1) + small, check.Options{}, check.ErrSpec, "Init cannot end"},
		"a spec without any action": {"---\noptions:\n  max_actions: 3\n---\n", check.Options{}, check.ErrSpec, "no action"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := check.Spec(t.Context(), spec(t, test.text), test.o)
			g.Expect(err).To(MatchError(test.err))
			g.Expect(err).To(MatchError(ContainSubstring(test.says)))
		})
	}
}

func TestACancelledRunEnds(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := check.Spec(ctx, counting(t, false, room), check.Options{})
	g.Expect(err).To(MatchError(context.Canceled))
}
