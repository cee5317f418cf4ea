package gate

// Evaluates an expression of a specification in every state of its graph.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	ast "fizz/proto"
	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// dialect is the dialect of Starlark that the checker uses, so that questions may use what specs may use.
var dialect = &syntax.FileOptions{Set: true, GlobalReassign: true, TopLevelControl: true}

// maxSteps bounds the evaluation of one expression.
const maxSteps = 1_000_000

// constants returns the text of what the spec defines at its top level: constants and functions.
func constants(f *ast.File) string {
	var out strings.Builder
	for _, s := range f.GetStmts() {
		out.WriteString(s.GetPyStmt().GetCode() + "\n")
	}
	for _, code := range f.GetPyCode() {
		out.WriteString(code + "\n")
	}
	return out.String()
}

func holds(g *graph.Graph, constants, expr string) ([]bool, error) {
	if len(g.Nodes) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(g.Nodes[0].Vars))
	thread := &starlark.Thread{Name: expr}
	source := fmt.Sprintf("%s\ndef ask(%s):\n    return (%s)\n", constants, strings.Join(names, ", "), expr)
	defined, err := starlark.ExecFileOptions(dialect, thread, "ask", source, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	out := make([]bool, len(g.Nodes))
	values := map[string]starlark.Value{}
	for i, node := range g.Nodes {
		args := make(starlark.Tuple, len(names))
		for k, name := range names {
			if args[k], err = decode(thread, values, node.Vars[name]); err != nil {
				return nil, fmt.Errorf("%s: the variable %s: %w", expr, name, err)
			}
		}
		thread.SetMaxExecutionSteps(thread.ExecutionSteps() + maxSteps)
		v, err := starlark.Call(thread, defined["ask"], args, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", expr, err)
		}
		b, isBool := v.(starlark.Bool)
		if !isBool {
			return nil, fmt.Errorf("%s is %s, expected True or False", expr, v.Type())
		}
		out[i] = bool(b)
	}
	return out, nil
}

// decode returns a value of the graph in Starlark. known has the values that were decoded before.
func decode(thread *starlark.Thread, known map[string]starlark.Value, raw string) (starlark.Value, error) {
	if v, seen := known[raw]; seen {
		return v, nil
	}
	v, err := starlark.Call(thread, json.Module.Members["decode"], starlark.Tuple{starlark.String(raw)}, nil)
	if err != nil {
		return nil, err
	}
	v.Freeze()
	known[raw] = v
	return v, nil
}
