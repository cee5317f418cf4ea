// Package check explores a spec with FizzBee and decides which assertions hold. FizzBee keeps
// its state in global variables and prints its result. So each spec is explored in a process
// of its own, and only the explored graph is used.
package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	ast "fizz/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// Options say how a spec is explored.
type Options struct {
	// Plain takes the spec as it is written: a fizz.yaml beside it counts, and liveness may be switched off.
	Plain bool
	// Timeout ends the run; zero is DefaultTimeout.
	Timeout time.Duration
	// Stop names the only assertions that are checked; the first that fails ends the run. Deadlocks
	// are then not looked for. None checks everything.
	Stop []string
	// Dir is the spec's folder, where its fizz.yaml and its .star modules are; empty: it has none.
	Dir string
	// MemoryMB is how much the run may hold; zero is DefaultMemoryMB.
	MemoryMB int
}

// The limits of a run that names none.
const (
	DefaultTimeout  = 5 * time.Minute
	DefaultMemoryMB = 8 << 10
)

// Verdict is the result for a spec.
type Verdict string

// The verdicts.
const (
	Passed   Verdict = "PASSED"
	Failed   Verdict = "FAILED"
	Deadlock Verdict = "DEADLOCK"
)

// Assertion is one of the spec's assertions. Holds is only meaningful if Decided is true: a run that ends at the first failure
// does not decide the others.
type Assertion struct {
	Name, Kind     string
	Decided, Holds bool
}

// The kinds of assertions, spelled as specs spell them.
const (
	Always           = "always"
	Transition       = "transition"
	Exists           = "exists"
	AlwaysEventually = "always eventually"
	EventuallyAlways = "eventually always"
)

// Result is the result of a run.
type Result struct {
	Spec string
	// Nodes and States are FizzBee's "Valid Nodes" and "Unique states": what was reached, and how
	// much of it is a state between actions.
	Nodes, States int
	Verdict       Verdict
	// Assertion is the first assertion that failed.
	Assertion string
	// Trace has the steps that lead to the failure. For liveness it ends with the steps that repeat for ever.
	Trace []graph.Step
	// Graph is nil if the run ended before everything was explored.
	Graph *graph.Graph
	// MaxActionsReached: the exploration ended at the spec's largest number of actions, so the assertions were only checked for short runs.
	MaxActionsReached bool
	Assertions        []Assertion
	// Good has, for each decided liveness assertion, the nodes of Graph in which its condition is true.
	Good map[string][]bool
}

// The reasons why a spec cannot be decided.
var (
	ErrTimeout = errors.New("timed out")
	ErrMemory  = errors.New("needs too much memory")
	ErrCrashed = errors.New("the checker crashed")
	ErrSpec    = errors.New("the spec cannot be run")
)

// Spec explores one spec in a process of its own. It may be called concurrently. The program
// that calls it must begin with [Main].
func Spec(ctx context.Context, f *ast.File, o Options) (Result, error) {
	if err := supported(f, o.Stop); err != nil {
		return Result{}, err
	}
	found, err := explore(ctx, f, o)
	if err != nil {
		return Result{}, err
	}
	if found.Complete && len(found.Graph.Nodes) == 0 && !o.Plain {
		return Result{}, fmt.Errorf("%w: Init cannot end, so there is no state to look at", ErrSpec)
	}
	return decide(f, o, found), nil
}
