package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a variable that a step gave another value. Was is empty where it is new, Is where it is gone.
type Change struct {
	Var, Was, Is string
}

// Step is one step of a run, for a reader: the first has no changes but all its variables.
type Step struct {
	Label   string
	Changes []Change
	// Loop marks the steps that repeat for ever.
	Loop bool
}

// String is the step on one line: what happened, then what it changed.
func (s Step) String() string {
	parts := make([]string, 0, len(s.Changes))
	for _, c := range s.Changes {
		switch {
		case c.Was == "":
			parts = append(parts, fmt.Sprintf("%s = %s", c.Var, c.Is))
		case c.Is == "":
			parts = append(parts, c.Var+" is gone")
		default:
			parts = append(parts, fmt.Sprintf("%s: %s -> %s", c.Var, c.Was, c.Is))
		}
	}
	if len(parts) == 0 {
		return s.Label
	}
	return s.Label + "  [" + strings.Join(parts, ", ") + "]"
}

// Print is a run for a reader, one step a line, the steps that repeat set off from the way there.
func Print(steps []Step) string {
	var out strings.Builder
	loop := false
	for i, s := range steps {
		if s.Loop && !loop {
			loop = true
			out.WriteString("then, for ever:\n")
		}
		fmt.Fprintf(&out, "%3d  %s\n", i, s)
	}
	return out.String()
}

// Diff is what differs between two states, in the order of the variables' names.
func Diff(was, is map[string]string) []Change {
	names := slices.Collect(maps.Keys(is))
	for name := range was {
		if _, ok := is[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []Change
	for _, name := range names {
		if was[name] != is[name] {
			out = append(out, Change{Var: name, Was: was[name], Is: is[name]})
		}
	}
	return out
}
