package gate

// Mutants that only change the fairness of an action: they are decided on the graph that is explored already.

import (
	"slices"

	ast "fizz/proto"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// notices reports whether a liveness assertion fails for a mutant that only changes the fairness of an action. Such a mutant has
// the graph that is explored already, with another fairness, so the gate need not explore it again. If notices returns false,
// nothing is decided: the mutant is then explored like any other.
func notices(whole check.Result, assertion string, was, is *ast.File) bool {
	good := whole.Good[assertion]
	action, level, only := onlyFairness(was, is)
	if good == nil || whole.Graph == nil || !only {
		return false
	}
	at := slices.IndexFunc(whole.Assertions, func(a check.Assertion) bool { return a.Name == assertion })
	return at >= 0 && whole.Assertions[at].Against(promising(whole.Graph, action, level), good) != nil
}

// promising returns the graph with another fairness of an action.
func promising(g *graph.Graph, action string, level graph.Fairness) *graph.Graph {
	with := *g
	with.Edges = slices.Clone(g.Edges)
	for i := range with.Edges {
		if with.Edges[i].Action == action {
			with.Edges[i].Fair = level
		}
	}
	return &with
}

// onlyFairness reports whether two specs differ only in the fairness of one action.
func onlyFairness(was, is *ast.File) (action string, level graph.Fairness, only bool) {
	was, is = bare(was), bare(is)
	if len(was.GetActions()) != len(is.GetActions()) {
		return "", graph.Unfair, false
	}
	for i, a := range is.GetActions() {
		before := was.GetActions()[i]
		if a.GetFairness().GetLevel() == before.GetFairness().GetLevel() {
			continue
		}
		action, level = a.GetName(), fairness(a)
		a.Fairness = before.Fairness
		return action, level, proto.Equal(was, is)
	}
	return "", graph.Unfair, false
}

func fairness(a *ast.Action) graph.Fairness {
	switch a.GetFairness().GetLevel() {
	case ast.FairnessLevel_FAIRNESS_LEVEL_WEAK:
		return graph.Weak
	case ast.FairnessLevel_FAIRNESS_LEVEL_STRONG:
		return graph.Strong
	case ast.FairnessLevel_FAIRNESS_LEVEL_UNKNOWN, ast.FairnessLevel_FAIRNESS_LEVEL_UNFAIR:
	}
	return graph.Unfair
}

// bare returns a copy of a spec without line numbers.
func bare(f *ast.File) *ast.File {
	out := proto.CloneOf(f)
	strip(out.ProtoReflect())
	return out
}

func strip(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Name() == "source_info":
			m.Clear(field)
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range v.List().Len() {
				strip(v.List().Get(i).Message())
			}
		default:
			strip(v.Message())
		}
		return true
	})
}
