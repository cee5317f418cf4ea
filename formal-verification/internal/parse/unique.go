package parse

// Checks that a specification defines no name twice.

import (
	"fmt"
	"strings"

	ast "fizz/proto"
)

// unique refuses a second definition of a name: the checker would take one of them in silence.
func (p *parser) unique(f *ast.File) {
	file := &scope{p: p}
	for _, r := range f.Roles {
		file.add(r.Name, r.SourceInfo)
		role := &scope{p: p}
		role.members(r.Stmts, r.Actions, r.Functions, r.Invariants)
	}
	file.members(f.Stmts, f.Actions, f.Functions, f.Invariants)
}

type scope struct {
	p     *parser
	taken map[string]*ast.SourceInfo
}

func (s *scope) members(stmts []*ast.Statement, actions []*ast.Action, functions []*ast.Function, assertions []*ast.Invariant) {
	for _, st := range stmts {
		if def, ok := strings.CutPrefix(st.GetPyStmt().GetCode(), "def "); ok {
			name, _, _ := strings.Cut(def, "(")
			s.add(strings.TrimSpace(name), st.SourceInfo)
		}
	}
	for _, a := range actions {
		s.add(a.Name, a.SourceInfo)
	}
	for _, f := range functions {
		s.add(f.Name, f.SourceInfo)
		params := &scope{p: s.p}
		for _, param := range f.Params {
			params.add(param.Name, param.SourceInfo)
		}
	}
	properties := &scope{p: s.p}
	for _, inv := range assertions {
		properties.add(inv.Name, inv.SourceInfo)
	}
}

func (s *scope) add(name string, at *ast.SourceInfo) {
	if before, ok := s.taken[name]; ok {
		second := token{line: int(at.GetStart().GetLine()), col: int(at.GetStart().GetColumn())}
		if first := before.GetStart(); int(first.GetLine()) > second.line {
			second.line, second.col, before = int(first.GetLine()), int(first.GetColumn()), at
		}
		s.p.failAt(second, fmt.Sprintf("a second definition of %s", name), fmt.Sprintf("one: the first is in line %d", before.GetStart().GetLine()))
		return
	}
	if s.taken == nil {
		s.taken = map[string]*ast.SourceInfo{}
	}
	s.taken[name] = at
}
