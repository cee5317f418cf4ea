package house

// The table of machines in docs/architecture.md: which package drives a machine.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// machineRow is a row of the table: a machine, what it decides, its package, and its drivers.
var machineRow = regexp.MustCompile("(?m)^\\| [a-z]+ \\| [^|]+ \\| `((?:internal/)?coord/[a-z]+)`[^|]*\\|([^|]*)\\|$")

// TestMachinesAreDriven holds the table to the code. A driver performs an effect when a case of a type switch names it and does something. An
// event can happen when a driver, or the composition, makes a value of its type.
func TestMachinesAreDriven(t *testing.T) {
	rows := machineRow.FindAllStringSubmatch(documents(t)["docs/architecture.md"], -1)
	if len(rows) < 12 {
		t.Fatalf("docs/architecture.md has %d rows of machines: has its table changed?", len(rows))
	}
	for _, row := range rows {
		machine := row[1]
		var drivers []string
		for _, span := range codeSpan.FindAllStringSubmatch(row[2], -1) {
			drivers = append(drivers, span[1])
		}
		if len(drivers) == 0 {
			continue // the row names the driver in words
		}
		for name := range undriven(t, machine, drivers) {
			t.Errorf("%s.%s: no driver performs or makes it", machine, name)
		}
	}
}

// undriven returns the effects of a machine that no driver performs, and the events that nobody makes.
func undriven(t *testing.T, machine string, drivers []string) map[string]bool {
	t.Helper()
	of := filepath.Base(machine)
	missing := map[string]bool{}
	for name := range methodsOf(t, machine, "effect") {
		missing[name] = true
	}
	events := methodsOf(t, machine, "event")
	for name := range events {
		missing[name] = true
	}
	for _, folder := range append(slices.Clone(drivers), "coord/session") {
		for _, file := range filesOf(t, folder) {
			for name := range performed(file, of) {
				if !events[name] && folder != "coord/session" {
					delete(missing, name)
				}
			}
			for name := range made(file, of) {
				if events[name] {
					delete(missing, name)
				}
			}
		}
	}
	return missing
}

// performed returns the types of package of that a case of a type switch names and does something for.
func performed(file *ast.File, of string) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok && len(c.Body) > 0 {
			for _, e := range c.List {
				if name, ok := selected(e, of); ok {
					names[name] = true
				}
			}
		}
		return true
	})
	return names
}

// made returns the types of package of that a composite literal or a conversion makes a value of.
func made(file *ast.File, of string) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		var of0 ast.Expr
		switch n := n.(type) {
		case *ast.CompositeLit:
			of0 = n.Type
		case *ast.CallExpr:
			of0 = n.Fun
		}
		if name, ok := selected(of0, of); ok {
			names[name] = true
		}
		return true
	})
	return names
}

// selected returns the name of an expression like of.Name.
func selected(e ast.Expr, of string) (name string, ok bool) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := s.X.(*ast.Ident)
	return s.Sel.Name, ok && x.Name == of
}

// methodsOf returns the types of a package that have a method of that name and a method Name: its events, or its effects.
func methodsOf(t *testing.T, folder, method string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	all := functionsOf(t, folder)
	for name := range all {
		if of, is := strings.CutSuffix(name, "."+method); is && all[of+".Name"] {
			names[of] = true
		}
	}
	return names
}

// filesOf returns the files of a package, without its tests.
func filesOf(t *testing.T, folder string) []*ast.File {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, folder), func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		files = append(files, slices.Collect(maps.Values(packages[name].Files))...)
	}
	return files
}

func TestAnUndrivenEffectIsSeen(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "driver.go", `package driver

func perform(f any) {
	switch f.(type) {
	case m.Done, m.Also:
		act(m.Event{})
	case m.Forgotten:
	}
	act(m.Converted(f))
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p := performed(file, "m"); !p["Done"] || !p["Also"] || p["Forgotten"] {
		t.Errorf("performed are %v", p)
	}
	if m := made(file, "m"); !m["Event"] || !m["Converted"] || m["Done"] {
		t.Errorf("made are %v", m)
	}
}
