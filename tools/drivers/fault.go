package main

// The faults of a file: its text with one change.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// fault is one file with one change.
type fault struct {
	row        int // the index of its folder in rows
	path, kind string
	number     int    // of the line
	line       string // as it is without the fault
	text       []byte // the file with the fault
}

func (f fault) place() string {
	return fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(f.path)), filepath.Base(f.path), f.number)
}

// harmless matches calls that a fault may drop without a change of behaviour that a test could see: logs, counters, locks, and panics for states that cannot occur.
var harmless = regexp.MustCompile(`\b[Ll]og(ger)?\.|\.(Debug|Info|Warn|Error|Lock|Unlock|RLock|RUnlock)\(|Telemetry|Observe|[Mm]etrics|^panic\(`)

// elsewhere matches files that the tests on this machine do not run.
var elsewhere = regexp.MustCompile(`_(test|js|windows|darwin|other|gen)\.go$`)

// faultsOf returns the faults of the files of a folder.
func faultsOf(folder string, row int) (all []fault, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if elsewhere.MatchString(path) {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // a file of this repository
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		s := source{files: files, text: text, path: path, row: row}
		ast.Inspect(file, func(n ast.Node) bool {
			s.visit(n)
			return true
		})
		all = append(all, s.all...)
	}
	return all, nil
}

// source is a file and its faults.
type source struct {
	files *token.FileSet
	text  []byte
	path  string
	row   int // as in fault
	all   []fault
}

// visit adds the faults of a node:
//
//	drop      a call is left out; double: it is made twice; swap: it comes after the call that follows
//	never     the body of a condition does not run; negate: the condition is negated
//	late      a time is ten times as long
//	boundary  < becomes <=, and so on
func (s *source) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		s.calls(n.List)
	case *ast.CaseClause:
		s.calls(n.Body)
	case *ast.CommClause:
		s.calls(n.Body)
	case *ast.IfStmt:
		if cond := s.of(n.Cond); !harmless.MatchString(s.of(n.Body)) {
			s.add("never", n.Cond, "false && ("+cond+")")
			s.add("negate", n.Cond, "!("+cond+")")
		}
	case *ast.CallExpr:
		if f, is := n.Fun.(*ast.SelectorExpr); is && len(n.Args) > 1 && strings.HasPrefix(f.Sel.Name, "After") {
			s.add("late", n.Args[0], "10*("+s.of(n.Args[0])+")")
		}
	case *ast.BinaryExpr:
		if other, is := map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}[n.Op]; is {
			s.add("boundary", n, s.of(n.X)+" "+other.String()+" "+s.of(n.Y))
		}
	}
}

func (s *source) calls(list []ast.Stmt) {
	for i, stmt := range list {
		call, is := stmt.(*ast.ExprStmt)
		if !is || harmless.MatchString(s.of(call)) {
			continue
		}
		s.add("drop", call, "")
		s.add("double", call, s.of(call)+"; "+s.of(call))
		if i+1 < len(list) {
			if next, is := list[i+1].(*ast.ExprStmt); is && !harmless.MatchString(s.of(next)) {
				s.replace("swap", call.Pos(), next.End(), s.of(next)+"; "+s.of(call))
			}
		}
	}
}

func (s *source) of(n ast.Node) string { return string(s.text[s.at(n.Pos()):s.at(n.End())]) }

func (s *source) at(p token.Pos) int { return s.files.Position(p).Offset }

func (s *source) add(kind string, n ast.Node, with string) { s.replace(kind, n.Pos(), n.End(), with) }

func (s *source) replace(kind string, from, to token.Pos, with string) {
	a, b := s.at(from), s.at(to)
	text := append(append(append([]byte(nil), s.text[:a]...), with...), s.text[b:]...)
	line := strings.TrimSpace(strings.SplitN(string(s.text[strings.LastIndexByte(string(s.text[:a]), '\n')+1:]), "\n", 2)[0])
	s.all = append(s.all, fault{row: s.row, path: s.path, kind: kind, number: s.files.Position(from).Line, line: line, text: text})
}
