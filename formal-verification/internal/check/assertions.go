package check

// The assertions of a specification: which kinds the checker can decide, and which of them a run decides.

import (
	"fmt"
	"slices"
	"strings"

	ast "fizz/proto"
)

// supported returns an error if the spec has no actions, lacks a named assertion, or has an assertion of a kind that cannot be decided.
func supported(f *ast.File, stop []string) error {
	if len(f.GetActions()) == 0 {
		return fmt.Errorf("%w: it has no action", ErrSpec)
	}
	known := map[string]bool{}
	for _, inv := range f.GetInvariants() {
		if kindOf(inv) == "" {
			return fmt.Errorf("%w: assertion %s is %q, which is none of always, transition, exists, always eventually and eventually always",
				ErrSpec, nameOf(inv), strings.Join(inv.GetTemporalOperators(), " "))
		}
		known[nameOf(inv)] = true
	}
	for _, name := range stop {
		if !known[name] {
			return fmt.Errorf("%w: it has no assertion %s", ErrSpec, name)
		}
	}
	return nil
}

// kindOf returns the assertion's kind, or "". The old form without a block is an expression with flags.
func kindOf(inv *ast.Invariant) string {
	if inv.GetBlock() == nil {
		switch {
		case inv.GetAlways() && inv.GetEventually():
			return AlwaysEventually
		case inv.GetEventually() && inv.GetNested().GetAlways():
			return EventuallyAlways
		case inv.GetAlways() && inv.GetNested() == nil:
			return Always
		}
		return ""
	}
	kind := strings.Join(inv.GetTemporalOperators(), " ")
	if slices.Contains([]string{Always, Transition, Exists, AlwaysEventually, EventuallyAlways}, kind) {
		return kind
	}
	return ""
}

func nameOf(inv *ast.Invariant) string {
	if inv.GetName() != "" {
		return inv.GetName()
	}
	return inv.GetPyExpr()
}

func lively(kind string) bool { return kind == AlwaysEventually || kind == EventuallyAlways }

// narrow removes all assertions from the file except the named ones, and returns their former indices.
func narrow(f *ast.File, only []string) []int {
	var kept []*ast.Invariant
	var at []int
	for i, inv := range f.GetInvariants() {
		if len(only) == 0 || slices.Contains(only, nameOf(inv)) {
			kept, at = append(kept, inv), append(at, i)
		}
	}
	f.Invariants = kept
	return at
}
