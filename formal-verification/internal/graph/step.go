package graph

// Steps in readable form: what an action was called, and which variables it changed.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a variable that a step gave another value. Was is empty where it is new, Is where it is gone.
type Change struct {
	Var, Was, Is string
}

// shown is the change for a reader: of an action that waits in its middle, where it waits; of a role, its fields. Where that
// would not tell the two apart, it is all that there is.
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

// fields are those of a role as the checker writes it; what is no such role stays.
func fields(role string) string {
	var r struct{ Fields json.RawMessage }
	if err := json.Unmarshal([]byte(role), &r); err != nil || r.Fields == nil {
		return role
	}
	return string(r.Fields)
}

// place says on one line where a stack of the checker's stands; what is no such stack stays.
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
