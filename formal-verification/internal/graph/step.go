package graph

// Steps in readable form: what an action was called, and which variables it changed.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a variable whose value a step has changed. Was is empty if the variable is new, and Is is empty if it is gone.
type Change struct {
	Var, Was, Is string
}

// shown returns the change for a reader: for an action that has begun and waits, the line where it waits; for a role, its fields.
// If the two are then equal, it returns the whole values.
func (c Change) shown() (was, is string) {
	short := func(value string) string { return value }
	switch {
	case strings.HasPrefix(c.Var, "thread-"):
		short = place
	case strings.Contains(c.Var, "#"):
		short = fields
	}
	if was, is = short(c.Was), short(c.Is); was == is {
		return c.Was, c.Is
	}
	return was, is
}

// fields returns the fields of a role as the checker writes it. Other text stays as it is.
func fields(role string) string {
	var r struct{ Fields json.RawMessage }
	if err := json.Unmarshal([]byte(role), &r); err != nil || r.Fields == nil {
		return role
	}
	return string(r.Fields)
}

// place returns the position of one of the checker's stacks on one line. Other text stays as it is.
func place(stack string) string {
	var frames []struct{ Name, PC, Vars string }
	if err := json.Unmarshal([]byte(stack), &frames); err != nil || len(frames) == 0 {
		return stack
	}
	calls := make([]string, len(frames))
	for i, f := range frames {
		calls[i] = f.Name
		if f.Vars != "" && f.Vars != "{}" {
			calls[i] += f.Vars
		}
	}
	return strings.Join(calls, " > ") + " at " + frames[len(frames)-1].PC
}

// Step is one step of a run, for a reader. The first one has all variables in place of changes.
type Step struct {
	Label   string
	Changes []Change
	// Loop marks the steps that repeat for ever.
	Loop bool
}

// String returns the step on one line: its label, and then the changes.
func (s Step) String() string {
	parts := make([]string, 0, len(s.Changes))
	for _, c := range s.Changes {
		was, is := c.shown()
		switch {
		case c.Was == "":
			parts = append(parts, fmt.Sprintf("%s = %s", c.Var, is))
		case c.Is == "":
			parts = append(parts, c.Var+" is gone")
		default:
			parts = append(parts, fmt.Sprintf("%s: %s -> %s", c.Var, was, is))
		}
	}
	if len(parts) == 0 {
		return s.Label
	}
	return s.Label + "  [" + strings.Join(parts, ", ") + "]"
}

// Print returns a run for a reader, one step on each line. The steps that repeat are marked.
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

// Diff returns the differences between two states, in the order of the variables' names.
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
