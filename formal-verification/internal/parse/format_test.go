package parse

// A printer of syntax trees, for tests: it writes a tree as a specification again.

import (
	"fmt"
	"strings"

	ast "fizz/proto"
)

// format writes a tree as a spec again. It indents by one space, so that the lines of a function in Python, which keep
// their indentation, stay deeper than its head.
func format(f *ast.File) string {
	w := &writer{}
	if yaml := f.GetFrontMatter().GetYaml(); yaml != "" {
		w.WriteString("---\n" + strings.TrimLeft(yaml, "\n") + "---\n")
	}
	for _, s := range f.GetStmts() {
		w.stmt(s)
	}
	for _, r := range f.GetRoles() {
		w.role(r)
	}
	w.members(f.GetActions(), f.GetFunctions(), f.GetInvariants())
	if f.GetComposition() != nil {
		w.entries("compose", f.GetComposition().GetSpecs())
	}
	for _, r := range f.GetRefinements() {
		w.entries("refine", r.GetSpecs())
	}
	return w.String()
}

type writer struct {
	strings.Builder
	depth int
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, "%s"+format+"\n", append([]any{strings.Repeat(" ", w.depth)}, args...)...)
}

func (w *writer) role(r *ast.Role) {
	for _, d := range r.GetDecorators() {
		w.line("@%s(%s)", d.GetName(), arguments(d.GetArgs()))
	}
	w.line("%s", strings.TrimLeft(strings.Join(r.GetModifiers(), " ")+" role "+r.GetName()+":", " "))
	w.depth++
	w.line("'''a role may be empty'''")
	for _, s := range r.GetStmts() {
		w.stmt(s)
	}
	w.members(r.GetActions(), r.GetFunctions(), r.GetInvariants())
	w.depth--
}

func (w *writer) members(actions []*ast.Action, functions []*ast.Function, assertions []*ast.Invariant) {
	for _, a := range actions {
		fair := fairness(a.GetFairness())
		if a.GetName() == "Init" {
			fair = ""
		}
		w.body(fmt.Sprintf("%s%saction %s:", flow(a.GetFlow()), fair, a.GetName()), a.GetFlow(), a.GetBlock())
	}
	for _, f := range functions {
		w.body(fmt.Sprintf("%sfunc %s(%s):", flow(f.GetFlow()), f.GetName(), parameters(f.GetParams())), f.GetFlow(), f.GetBlock())
	}
	for _, i := range assertions {
		head := fmt.Sprintf("%s assertion %s(%s):", strings.Join(i.GetTemporalOperators(), " "), i.GetName(), parameters(i.GetParams()))
		w.body(head, ast.Flow_FLOW_ATOMIC, i.GetBlock())
	}
}

// body writes a head and its block, whose own flow is written only where it differs.
func (w *writer) body(head string, around ast.Flow, b *ast.Block) {
	w.line("%s", head)
	w.depth++
	if b.GetFlow() != around {
		w.body(flow(b.GetFlow())+":", b.GetFlow(), b)
	} else {
		for _, s := range b.GetStmts() {
			w.stmt(s)
		}
	}
	w.depth--
}

func (w *writer) stmt(s *ast.Statement) {
	label := ""
	if s.GetLabel() != "" {
		label = "`" + s.GetLabel() + "` "
	}
	const none = ast.Flow_FLOW_UNKNOWN
	switch {
	case s.GetPyStmt() != nil:
		w.line("%s%s", label, s.GetPyStmt().GetCode())
	case s.GetBlock() != nil:
		w.body(label+flow(s.GetBlock().GetFlow())+":", s.GetBlock().GetFlow(), s.GetBlock())
	case s.GetIfStmt() != nil:
		w.branches(label, s.GetIfStmt().GetBranches())
	case s.GetForStmt() != nil:
		f := s.GetForStmt()
		w.body(fmt.Sprintf("%s%sfor %s in %s:", label, flow(f.GetFlow()), f.GetLoopVars()[0], f.GetPyExpr()), none, f.GetBlock())
	case s.GetWhileStmt() != nil:
		f := s.GetWhileStmt()
		w.body(fmt.Sprintf("%s%swhile %s:", label, flow(f.GetFlow()), f.GetPyExpr()), none, f.GetBlock())
	case s.GetAnyStmt() != nil:
		w.choice(label, s.GetAnyStmt())
	case s.GetBreakStmt() != nil:
		w.line("%sbreak", label)
	case s.GetContinueStmt() != nil:
		w.line("%scontinue", label)
	case s.GetReturnStmt() != nil:
		w.line("%sreturn %s", label, s.GetReturnStmt().GetPyExpr())
	case s.GetRequireStmt() != nil:
		w.line("%srequire %s", label, s.GetRequireStmt().GetCondition())
	case s.GetCallStmt() != nil:
		w.line("%s%s", label, call(s.GetCallStmt()))
	default:
		panic(fmt.Sprintf("no statement: %v", s))
	}
}

func (w *writer) branches(label string, branches []*ast.Branch) {
	word := label + "if "
	for _, br := range branches {
		head := word + br.GetCondition() + ":"
		if br.GetConditionExpr().GetSourceInfo() == nil {
			head = "else:"
		}
		w.body(head, ast.Flow_FLOW_UNKNOWN, br.GetBlock())
		word = "elif "
	}
}

func (w *writer) choice(label string, a *ast.AnyStmt) {
	if a.GetBlock() != nil {
		w.body(fmt.Sprintf("%soneof %s in %s:", label, a.GetLoopVars()[0], a.GetPyExpr()), ast.Flow_FLOW_UNKNOWN, a.GetBlock())
		return
	}
	cond := ""
	if a.GetCondition() != "" {
		cond = " : " + a.GetCondition()
	}
	w.line("%s%s = %soneof %s%s", label, a.GetLoopVars()[0], fairness(a.GetFairness()), a.GetPyExpr(), cond)
}

func (w *writer) entries(word string, specs []*ast.SpecEntry) {
	w.line("%s:", word)
	for _, s := range specs {
		w.line(" %s: %s", s.GetName(), s.GetExpr().GetPyExpr())
	}
}

func call(c *ast.CallStmt) string {
	out := ""
	for _, v := range c.GetVars() {
		out += v + " = "
	}
	if c.GetReceiver() != "" {
		out += c.GetReceiver() + "."
	}
	return out + c.GetName() + "(" + arguments(c.GetArgs()) + ")"
}

func arguments(args []*ast.Argument) string {
	var out []string
	for _, a := range args {
		out = append(out, a.GetPyExpr())
	}
	return strings.Join(out, ", ")
}

func parameters(params []*ast.Parameter) string {
	var out []string
	for _, p := range params {
		text := p.GetName()
		if p.GetDefaultPyExpr() != "" {
			text += " = " + p.GetDefaultPyExpr()
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func flow(f ast.Flow) string {
	for word, flow := range flows {
		if flow == f {
			return word + " "
		}
	}
	return ""
}

func fairness(f *ast.Fairness) string {
	switch f.GetLevel() {
	case ast.FairnessLevel_FAIRNESS_LEVEL_WEAK:
		return "fair "
	case ast.FairnessLevel_FAIRNESS_LEVEL_STRONG:
		return "fair<strong> "
	default:
		return ""
	}
}
