package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Enabled says whether a step is possible in a node. It is named by its action alone, or by its
// whole label with what is chosen.
func (g *Graph) Enabled(node int, step string) bool {
	for _, e := range g.Edges {
		if e.From == node && (e.Action == step || e.Label() == step) {
			return true
		}
	}
	return false
}

// NotEnabled is a shortest path to a node where when holds and the step is not possible, nil where there is none.
func (g *Graph) NotEnabled(step string, when func(node int) bool) *Path {
	can := make([]bool, len(g.Nodes))
	for _, e := range g.Edges {
		if e.Action == step || e.Label() == step {
			can[e.From] = true
		}
	}
	return g.PathTo(func(n int) bool { return when(n) && !can[n] })
}

// maxEvalSteps bounds what an expression may take.
const maxEvalSteps = 1_000_000

// Where evaluates a Starlark expression over the variables in every node, and returns where it
// is true. Sets are lists in it, and enums and records are as they are in JSON.
func (g *Graph) Where(expr string) ([]bool, error) {
	names := g.vars()
	eval, err := compile(expr, names)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(g.Nodes))
	read := values{}
	for i, n := range g.Nodes {
		args := make(starlark.Tuple, len(names))
		for k, name := range names {
			if args[k], err = read.value(n.Vars, name); err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
		}
		thread := &starlark.Thread{Name: expr}
		thread.SetMaxExecutionSteps(maxEvalSteps)
		got, err := starlark.Call(thread, eval, args, nil)
		if err != nil {
			return nil, fmt.Errorf("evaluate %q: %w", expr, err)
		}
		holds, ok := got.(starlark.Bool)
		if !ok {
			return nil, fmt.Errorf("evaluate %q: it is a %s, and should be True or False", expr, got.Type())
		}
		out[i] = bool(holds)
	}
	return out, nil
}

// vars are the names of all variables, in order.
func (g *Graph) vars() []string {
	all := map[string]bool{}
	for _, n := range g.Nodes {
		for name := range n.Vars {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// compile makes an expression a function of the variables, so that a name which is none is refused.
func compile(expr string, vars []string) (starlark.Value, error) {
	if strings.ContainsAny(expr, "\n\r") {
		return nil, fmt.Errorf("an expression is one line: %q", expr)
	}
	options := &syntax.FileOptions{Set: true}
	if _, err := options.ParseExpr("ask", expr, 0); err != nil {
		return nil, fmt.Errorf("read the expression %q: %w", expr, err)
	}
	src := "def ask(" + strings.Join(vars, ", ") + "): return (" + expr + "\n)\n"
	globals, err := starlark.ExecFileOptions(options, &starlark.Thread{Name: "ask"}, "ask", src, nil)
	if err != nil {
		return nil, fmt.Errorf("read the expression %q: %w", expr, err)
	}
	return globals["ask"], nil
}

// values are texts as Starlark has them, frozen, so that equal ones are read once.
type values map[string]starlark.Value

// value is a variable of a node; one that the node lacks is None.
func (read values) value(vars map[string]string, name string) (starlark.Value, error) {
	text, ok := vars[name]
	if !ok {
		return starlark.None, nil
	}
	if v, ok := read[text]; ok {
		return v, nil
	}
	decode := starjson.Module.Members["decode"]
	v, err := starlark.Call(&starlark.Thread{Name: name}, decode, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return nil, err
	}
	v.Freeze()
	read[text] = v
	return v, nil
}
