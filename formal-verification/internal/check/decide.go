package check

// The verdict: decides from the explored graph which assertions hold.

import (
	"path/filepath"
	"slices"
	"strings"

	ast "fizz/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// decide returns the verdict for the explored graph. It decides in FizzBee's order: safety, deadlock, exists, liveness.
func decide(f *ast.File, o Options, found *answer) Result {
	r := Result{
		Spec:              specName(f),
		Nodes:             found.Nodes,
		States:            found.States,
		Verdict:           Passed,
		MaxActionsReached: found.MaxActionsReached,
	}
	for _, at := range found.Checked {
		inv := f.GetInvariants()[at]
		r.Assertions = append(r.Assertions, Assertion{Name: nameOf(inv), Kind: kindOf(inv)})
	}
	if !found.Complete {
		r.fail(found.FailedAssertion, found.Path)
		return r
	}
	r.Graph = &found.Graph
	r.safety(found)
	if r.Verdict == Passed && len(o.Stop) == 0 && found.DeadlockDetection && found.Deadlock {
		r.Verdict = Deadlock
		r.Trace = r.Graph.Run(r.Graph.PathTo(func(n int) bool { return n == found.Stuck }))
	}
	r.exists(found)
	if !found.LivenessOff {
		r.liveness(found)
	}
	return r
}

// safety records that the checker visited every state and step without a failure, and decides what the checker does not check.
func (r *Result) safety(found *answer) {
	for i := range r.Assertions {
		a := &r.Assertions[i]
		if a.Kind != Always && a.Kind != Transition {
			continue
		}
		if step, broken := found.BrokenSteps[i]; broken {
			from := r.Graph.Edges[step].From
			p := r.Graph.PathTo(func(n int) bool { return n == from })
			p.Edges = append(p.Edges, step)
			r.fail(i, r.Graph.Run(p))
			continue
		}
		a.Decided, a.Holds = true, true
	}
}

func (r *Result) exists(found *answer) {
	for i, a := range r.Assertions {
		if a.Kind != Exists {
			continue
		}
		if slices.Contains(found.Witness[i], true) {
			r.Assertions[i].Decided, r.Assertions[i].Holds = true, true
		} else {
			r.fail(i, nil)
		}
	}
}

func (r *Result) liveness(found *answer) {
	r.Good = map[string][]bool{}
	for i, a := range r.Assertions {
		if !lively(a.Kind) {
			continue
		}
		r.Good[a.Name] = found.Witness[i]
		if lasso := a.Against(r.Graph, found.Witness[i]); lasso != nil {
			r.fail(i, r.Graph.Tell(lasso))
			continue
		}
		r.Assertions[i].Decided, r.Assertions[i].Holds = true, true
	}
}

// Against returns a fair run of the graph that breaks a liveness assertion, or nil. good has the nodes in which its condition is true.
func (a Assertion) Against(g *graph.Graph, good []bool) *graph.Lasso {
	holds := func(n int) bool { return good[n] }
	if a.Kind == AlwaysEventually {
		return g.AlwaysEventually(holds)
	}
	return g.EventuallyAlways(holds)
}

// fail records an assertion that does not hold. The first one decides the verdict.
func (r *Result) fail(i int, trace []graph.Step) {
	if i >= 0 {
		r.Assertions[i].Decided, r.Assertions[i].Holds = true, false
	}
	if r.Verdict != Passed {
		return
	}
	r.Verdict, r.Trace = Failed, trace
	if i >= 0 {
		r.Assertion = r.Assertions[i].Name
	}
}

// specName returns the file's name without its ending.
func specName(f *ast.File) string {
	return strings.TrimSuffix(filepath.Base(f.GetSourceInfo().GetFileName()), ".fizz")
}
