package gate

// Tests of the gate as a whole, on a small specification: what makes it fail.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ast "fizz/proto"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

func TestMain(m *testing.M) {
	check.Main()
	os.Exit(m.Run())
}

const lampMutants = `# what each assertion must notice
Counted | atomic action On: | times < LAST => times <= LAST
GoesOut | atomic fair action Off: | atomic fair action => atomic action
`

// The code of the lamp.
type (
	bulb struct {
		On    bool
		Times int
	}
	light struct{}
	dark  struct{}
)

func (light) Name() string { return "Light" }
func (dark) Name() string  { return "Dark" }

func lampCode() conform.System[bulb, string, machine.Named, struct{}] {
	return conform.System[bulb, string, machine.Named, struct{}]{
		Spec: "lamp", Starts: []conform.Start[bulb, struct{}]{{}},
		Step: func(b bulb, e string) (bulb, []machine.Named, string) {
			switch {
			case e == "On" && !b.On && b.Times < 3:
				return bulb{true, b.Times + 1}, []machine.Named{light{}}, ""
			case e == "Off" && b.On:
				return bulb{false, b.Times}, []machine.Named{dark{}}, ""
			}
			return b, nil, "it is so already, or worn"
		},
		Events: func(bulb, struct{}) []conform.Labelled[string] {
			return []conform.Labelled[string]{{Label: "On", Event: "On"}, {Label: "Off", Event: "Off"}}
		},
		Vars: func(b bulb, _ struct{}) map[string]string {
			return map[string]string{"on": conform.JSON(b.On), "times": conform.JSON(b.Times)}
		},
	}
}

// newGate is a gate for a folder with these files.
func newGate(t *testing.T, files map[string]string) *Gate {
	t.Helper()
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(full), 0o755)).To(gomega.Succeed())
		g.Expect(os.WriteFile(full, []byte(text), 0o644)).To(gomega.Succeed())
	}
	return &Gate{
		Specs: dir, Check: check.Spec, Machines: []conform.Comparer{lampCode()},
		Designed: map[string][]string{"lamp": {"Counted", "Worn"}},
		SpecTime: time.Minute, MutantTime: time.Minute,
	}
}

func lampFiles(spec string) map[string]string {
	return map[string]string{"lamp.fizz": spec, "lamp.mutants": lampMutants}
}

// said is everything that is wrong.
func said(r Report) string {
	out := strings.Join(r.Problems, "\n")
	for _, s := range r.Specs {
		out += "\n" + strings.Join(s.Problems, "\n")
	}
	return out
}

func expectRed(t *testing.T, r Report, words ...string) {
	t.Helper()
	g := gomega.NewWithT(t)
	g.Expect(r.Passed()).To(gomega.BeFalse())
	for _, w := range words {
		g.Expect(said(r)).To(gomega.ContainSubstring(w))
	}
}

func TestGreen(t *testing.T) {
	g := gomega.NewWithT(t)
	report := newGate(t, lampFiles(lamp)).Run(t.Context())
	g.Expect(said(report)).To(gomega.Equal("\n"))
	g.Expect(report.Passed()).To(gomega.BeTrue())
	f := report.Figures()["lamp"]
	f.CheckSeconds, f.MutantSeconds, f.ConformSeconds = 0, 0, 0
	g.Expect(f).To(gomega.Equal(Figures{
		Verdict: "PASSED", Nodes: f.Nodes, States: f.States, Edges: 6, Assertions: 2, Asks: 3, Killed: 2, Mutants: 2,
		Pairs: 7, Compared: 6, Refused: 8,
	}))
	g.Expect(f.States).To(gomega.Equal(7))
}

// Everything that a checker lets pass, and the gate must not.
func TestSpecsThatProveNothing(t *testing.T) {
	for _, c := range []struct{ name, was, now, said string }{
		{"empty", lamp, "", "no assertion: nothing is claimed"},
		{"nothing but options", lamp[strings.Index(lamp, "# A lamp"):], "", "no action Init"},
		{"it fails", "return times <= LAST", "return times < LAST", "FAILED:Counted"},
		{"it deadlocks", "deadlock_detection: false", "deadlock_detection: true", "DEADLOCK"},
		{"liveness fails", "atomic fair action Off", "atomic action Off", "FAILED:GoesOut"},
		{"liveness: false", "options:", "liveness: false\noptions:", "switches the liveness checks off"},
		{"liveness misspelt", "options:", "livness: strict\noptions:", "unknown option livness"},
		{"liveness with a wrong word", "options:", "liveness: strikt\noptions:", "switches the liveness checks off"},
		{
			"assertion in a role", "atomic action On:", "role Switch:\n    always assertion Hidden:\n        return False\n\natomic action On:",
			"assertion Hidden stands in role Switch",
		},
		{"action that is never enabled", "require on\n", "require on and times > LAST\n", "the action Off is never enabled"},
		{"no Init", "action Init:", "atomic action Begin:", "no action Init"},
		{"no assertion", lamp[strings.Index(lamp, "always assertion"):strings.Index(lamp, "# ask")], "", "no assertion: nothing is claimed"},
		{"max_actions is reached", "max_actions: 100", "max_actions: 2", "max_actions was reached"},
		{"max_concurrent_actions is missing", "  max_concurrent_actions: 1\n", "", "options.max_concurrent_actions is missing"},
		{"a target that nobody knows", "    times = times + 1", "    tmies = times + 1", "tmies"},
		{"a word that nobody knows", "always assertion Counted", "always asertion Counted", "asertion"},
		{"an action twice", "atomic fair action Off:", "atomic fair action On:", "a second definition of On"},
		{"an assertion twice", "always assertion Counted:", "always assertion GoesOut:", "a second definition of GoesOut"},
		{"a question with the answer no", "# ask reachable Worn: times == LAST", "# ask reachable Worn: times > LAST", "ask reachable Worn: no state is so"},
		{"a question about no action", "CanGoOut: Off when", "CanGoOut: Of when", "no action is named Of"},
		{"a question that is none", "# ask reachable", "# ask reachabel", "ask reachabel: expected"},
		{"a question that is gone", "# ask reachable Worn", "# reachable Worn", "the design asks for Worn"},
		{"an assertion that is gone", "assertion Counted", "assertion Other", "the design asks for Counted"},
		{"other effects than the code's", `fx = ["Light"]`, `fx = ["Light", "Light"]`, "spec and code differ: after On: the effects differ"},
		{"a step that the code ignores", "require not on and times < LAST", "require times < LAST", "spec and code differ: after On, On: the spec takes this step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := replaceOnce(gomega.NewWithT(t), lamp, c.was, c.now)
			expectRed(t, newGate(t, lampFiles(spec)).Run(t.Context()), c.said)
		})
	}
}

// The checker's own liveness pass does not see this loop in half of the orders of its actions.
func TestLivenessThatTheCheckerMisses(t *testing.T) {
	g := gomega.NewWithT(t)
	text, err := os.ReadFile("../check/testdata/retry.fizz")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(Rules(mustParse(g, string(text)))).To(gomega.BeEmpty())
	expectRed(t, newGate(t, lampFiles(string(text))).Run(t.Context()), "FAILED:Sends", "then, for ever:")
}

func TestMutantsThatProveNothing(t *testing.T) {
	const counted = "Counted | atomic action On: | times < LAST => times <= LAST\n"
	for _, c := range []struct{ name, was, now, said string }{
		{"none for an assertion", counted, "", "no mutant for Counted: nothing shows that it bites"},
		{"one that survives", "<= LAST", "< LAST - 1", "line 2, Counted | atomic action On: | times < LAST => times < LAST - 1: it survives"},
		{"one for no assertion", counted, counted + "Count | atomic action On: | on = True => pass\n", "a mutant for Count, which is no assertion"},
		{"one that does not apply", "times < LAST", "times < TOP", `no line of the block "atomic action On:" has "times < TOP"`},
		{"one that does not parse", "times <= LAST", "times <= <= LAST", "the edit is no spec"},
		{"one that ends in an error", "times <= LAST", "times <= [] [0]", "line 2"},
		{"one that is no mutant", counted, "Counted\n", "lamp.mutants: line 2: expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := lampFiles(lamp)
			files["lamp.mutants"] = replaceOnce(gomega.NewWithT(t), lampMutants, c.was, c.now)
			expectRed(t, newGate(t, files).Run(t.Context()), c.said)
		})
	}
	t.Run("no list", func(t *testing.T) {
		expectRed(t, newGate(t, map[string]string{"lamp.fizz": lamp}).Run(t.Context()), "no mutants, so nothing shows that its assertions bite")
	})
}

type checker = func(context.Context, *ast.File, check.Options) (check.Result, error)

func TestCheckersThatProveNothing(t *testing.T) {
	// changed is the real checker, with its result changed.
	changed := func(change func(*check.Result)) checker {
		return func(ctx context.Context, f *ast.File, o check.Options) (check.Result, error) {
			r, err := check.Spec(ctx, f, o)
			change(&r)
			return r, err
		}
	}
	for name, c := range map[string]struct {
		check checker
		said  string
	}{
		"none": {nil, "no checker: nothing is proven"},
		"one that cannot be started": {func(context.Context, *ast.File, check.Options) (check.Result, error) {
			return check.Result{}, errors.New("start the checker: it is gone")
		}, "it is gone"},
		"one that says yes at once": {func(context.Context, *ast.File, check.Options) (check.Result, error) {
			return check.Result{Verdict: check.Passed}, nil
		}, "without exploring anything"},
		"one that finds a single state": {changed(func(r *check.Result) {
			r.Graph = &graph.Graph{Nodes: r.Graph.Nodes[:1], Init: []int{0}}
		}), "the action On is never enabled"},
		"one that leaves an assertion out":    {changed(func(r *check.Result) { r.Assertions = r.Assertions[:1] }), "without deciding GoesOut"},
		"one that leaves one open":            {changed(func(r *check.Result) { r.Assertions[1].Decided = false }), "without deciding GoesOut"},
		"one that always says yes":            {changed(func(r *check.Result) { r.Verdict, r.Assertion = check.Passed, "" }), "it survives"},
		"one that blames another assertion":   {changed(func(r *check.Result) { r.Assertion = strings.Repeat("x", len(r.Assertion)) }), "FAILED:xxxxxxx instead"},
		"one that says yes after max_actions": {changed(func(r *check.Result) { r.MaxActionsReached = true }), "max_actions was reached"},
	} {
		t.Run(name, func(t *testing.T) {
			gate := newGate(t, lampFiles(lamp))
			gate.Check = c.check
			expectRed(t, gate.Run(t.Context()), c.said)
		})
	}
}

func TestFoldersThatProveNothing(t *testing.T) {
	t.Run("no folder", func(t *testing.T) {
		gate := newGate(t, nil)
		gate.Specs = filepath.Join(gate.Specs, "gone")
		expectRed(t, gate.Run(t.Context()), "look for specs")
	})
	t.Run("no specs", func(t *testing.T) {
		expectRed(t, newGate(t, map[string]string{"golden.txt": ""}).Run(t.Context()), "no specs in")
	})
	t.Run("a spec without code", func(t *testing.T) {
		files := lampFiles(lamp)
		files["torch.fizz"], files["torch.mutants"] = lamp, lampMutants
		expectRed(t, newGate(t, files).Run(t.Context()), "torch: no code is compared with it")
	})
	t.Run("code without a spec", func(t *testing.T) {
		gate := newGate(t, lampFiles(lamp))
		torch := lampCode()
		torch.Spec = "torch"
		gate.Machines = append(gate.Machines, torch)
		expectRed(t, gate.Run(t.Context()), "torch: the gate knows of it, and there is no such spec")
	})
	t.Run("code twice", func(t *testing.T) {
		gate := newGate(t, lampFiles(lamp))
		gate.Machines = append(gate.Machines, lampCode())
		expectRed(t, gate.Run(t.Context()), "lamp: two tables")
	})
	t.Run("a spec that the design asks for", func(t *testing.T) {
		gate := newGate(t, lampFiles(lamp))
		gate.Designed["torch"] = nil
		expectRed(t, gate.Run(t.Context()), "torch: the design asks for it")
	})
	t.Run("a part of a spec claims for it", func(t *testing.T) {
		files := lampFiles(replaceOnce(gomega.NewWithT(t), lamp, "# ask reachable Worn", "# ask reachable Broken"))
		files["lamp_end.fizz"], files["lamp_end.mutants"] = lamp, lampMutants
		gate := newGate(t, files)
		end := lampCode()
		end.Spec = "lamp_end"
		gate.Machines = append(gate.Machines, end)
		gomega.NewWithT(t).Expect(said(gate.Run(t.Context()))).To(gomega.Equal("\n\n"))
	})
	t.Run("a name that is no spec's", func(t *testing.T) {
		expectRed(t, newGate(t, lampFiles(lamp)).Run(t.Context(), "lmap"), "lmap: no such spec")
	})
}

func TestReferences(t *testing.T) {
	files := lampFiles(lamp)
	g := gomega.NewWithT(t)
	files["reference/good.fizz"] = lamp
	files["reference/bad.fizz"] = replaceOnce(g, lamp, "return times <= LAST", "return times < LAST")
	gate := newGate(t, files)
	gate.References = map[string]Reference{
		"reference/good": {Why: "as it should be", Verdict: check.Passed, States: 7},
		"reference/bad":  {Why: "as it should not be", Verdict: check.Failed, Assertion: "Counted"},
	}
	report := gate.Run(t.Context())
	g.Expect(said(report)).To(gomega.Equal("\n\n\n"))
	g.Expect(report.Figures()["reference/bad"].Verdict).To(gomega.Equal("FAILED:Counted"))

	gate.References["reference/good"] = Reference{Why: "as it should be", Verdict: check.Passed, States: 8}
	expectRed(t, gate.Run(t.Context()), "as it should be: 7 states, expected 8")
	gate.References["reference/good"] = Reference{Why: "as it should be", Verdict: check.Failed, Assertion: "GoesOut"}
	expectRed(t, gate.Run(t.Context()), "as it should be: PASSED, expected FAILED:GoesOut")
}
