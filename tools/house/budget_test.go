package house

// The budgets of the house: how large the program may be, and what outsiders may depend on. budgets.txt has the numbers. A commit that
// raises a number adds a decision to docs/decisions.

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxPublic is the number of packages that outsiders may import.
const maxPublic = 25

// budgets reads the lines of one kind from budgets.txt: a name and a number each.
func budgets(t *testing.T, kind string) map[string]int {
	t.Helper()
	of := map[string]int{}
	for line := range strings.Lines(string(read(t, "tools/house/budgets.txt"))) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != kind {
			continue
		}
		if len(words) != 3 {
			t.Fatalf("budgets.txt: %q: want a kind, a name and a number", strings.TrimSpace(line))
		}
		n, err := strconv.Atoi(words[2])
		if err != nil {
			t.Fatalf("budgets.txt: %q: %v", strings.TrimSpace(line), err)
		}
		of[words[1]] = n
	}
	if len(of) == 0 {
		t.Fatalf("budgets.txt has no line that begins with %s", kind)
	}
	return of
}

// written reports whether a file counts as written by hand and as a part of what ships.
func written(name string) bool {
	return !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_gen.go") && !strings.HasSuffix(name, ".pb.go")
}

// TestLinesKeepTheirBudget counts the lines of each area that were written by hand, without tests. The area of a file is the longest
// folder of the table that has the file. "all" is the whole repository.
func TestLinesKeepTheirBudget(t *testing.T) {
	areas := budgets(t, "lines")
	lines := map[string]int{}
	for _, name := range tracked(t, "*.go") {
		if !written(name) {
			continue
		}
		n := strings.Count(string(read(t, name)), "\n")
		lines["all"] += n
		for folder := path.Dir(name); ; folder = path.Dir(folder) {
			if _, ok := areas[folder]; ok {
				lines[folder] += n
				break
			}
			if folder == "." {
				t.Errorf("%s: no area of budgets.txt has this file", name)
				break
			}
		}
	}
	for _, area := range slices.Sorted(maps.Keys(areas)) {
		if lines[area] == 0 {
			t.Errorf("budgets.txt: %s has no lines: delete its budget", area)
		}
		if lines[area] > areas[area] {
			t.Errorf("%s has %d lines, more than its budget of %d: delete something, or raise the budget with a decision", area, lines[area], areas[area])
		}
	}
}

// TestPublicFaceKeepsItsBudget counts the packages that outsiders can import, and the exported names of each: constants, variables,
// functions, types, and methods of exported types.
func TestPublicFaceKeepsItsBudget(t *testing.T) {
	most := budgets(t, "names")
	if len(most) > maxPublic {
		t.Errorf("budgets.txt has %d public packages, more than %d", len(most), maxPublic)
	}
	names := map[string]int{}
	eachPublicFile(t, func(name string, _ *token.FileSet, file *ast.File) {
		folder := filepath.Dir(name)
		names[folder] += 0
		for _, d := range file.Decls {
			names[folder] += len(exported(d))
		}
	})
	for folder, n := range names {
		budget, ok := most[folder]
		if !ok {
			t.Errorf("%s is a public package without a budget: move it below internal", folder)
		} else if n > budget {
			t.Errorf("%s exports %d names, more than its budget of %d", folder, n, budget)
		}
	}
	for folder := range most {
		if _, ok := names[folder]; !ok {
			t.Errorf("budgets.txt: %s is no public package: delete its budget", folder)
		}
	}
}

// TestPublicFaceNamesNoInternalType wants that outsiders can name every type of an exported declaration: where the type is internal, the
// package has an alias for it.
func TestPublicFaceNamesNoInternalType(t *testing.T) {
	eachPublicFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		internal := map[string]bool{}
		for _, imported := range file.Imports {
			p, _ := strconv.Unquote(imported.Path.Value)
			if !strings.Contains(p, "antiphon/internal/") && !strings.Contains(p, "/internal/") {
				continue
			}
			as := path.Base(p)
			if imported.Name != nil {
				as = imported.Name.Name
			}
			internal[as] = true
		}
		for _, d := range file.Decls {
			for _, shown := range exported(d) {
				ast.Inspect(shown, func(n ast.Node) bool {
					selector, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if of, ok := selector.X.(*ast.Ident); ok && internal[of.Name] {
						t.Errorf("%s: an exported declaration names %s.%s: outsiders cannot write that type. Give it an alias here",
							fset.Position(selector.Pos()), of.Name, selector.Sel.Name)
					}
					return true
				})
			}
		}
	})
}

// eachPublicFile visits the files of the packages that outsiders can import. Programs, internal packages, tests, and the modules of the
// project's own tools are none of them.
func eachPublicFile(t *testing.T, visit func(name string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		folder := "/" + filepath.ToSlash(filepath.Dir(name)) + "/"
		for _, other := range []string{"/internal/", "/cmd/", "/testdata/", "/examples/", "/e2e/", "/tools/", "/formal-verification/"} {
			if strings.Contains(folder, other) {
				return
			}
		}
		if !strings.HasSuffix(name, "_test.go") && file.Name.Name != "main" {
			visit(name, fset, file)
		}
	})
}

// exported returns what outsiders see of a declaration: one node for each exported name. Of a function that is its signature, of a struct
// its exported fields. An alias of a type shows nothing more than its name.
func exported(d ast.Decl) []ast.Node {
	var shown []ast.Node
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d.Recv)) {
			shown = append(shown, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					shown = append(shown, exportedType(spec))
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() && spec.Type != nil {
						shown = append(shown, spec.Type)
					} else if name.IsExported() {
						shown = append(shown, name)
					}
				}
			}
		}
	}
	return shown
}

func receiverIsExported(of *ast.FieldList) bool {
	exported := false
	ast.Inspect(of.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && !exported {
			exported = name.IsExported()
			return false
		}
		return true
	})
	return exported
}

// exportedType is a type without its hidden fields.
func exportedType(spec *ast.TypeSpec) ast.Node {
	if spec.Assign.IsValid() {
		return spec.Name
	}
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return spec.Type
	}
	open := &ast.FieldList{}
	for _, field := range fields.Fields.List {
		if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
			open.List = append(open.List, field)
		}
	}
	return &ast.StructType{Fields: open}
}
