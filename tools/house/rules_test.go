package house

// The rules of the house for declarations, sizes and words. What does not keep a rule yet is listed beside the rule: these lists only
// get shorter.

import (
	"go/ast"
	"go/build/constraint"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFields       = 20
	maxPackageLines = 2500
)

// wide are the structs that have more than maxFields fields.
var wide = map[string]bool{}

// TestStructsAreSmall counts the fields of the program's structs: embedded ones count, too. Those that mirror a spec have its variables.
func TestStructsAreSmall(t *testing.T) {
	left := maps.Clone(wide)
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if strings.HasPrefix(name, "formal-verification/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			if n := fields.Fields.NumFields(); n > maxFields {
				key := filepath.Dir(name) + "." + spec.Name.Name
				if delete(left, key); !wide[key] {
					t.Errorf("%s: %s has %d fields, more than %d: find the second owner in it", fset.Position(spec.Pos()), spec.Name.Name, n, maxFields)
				}
			}
			return true
		})
	})
	for key := range left {
		t.Logf("%s is small now: it can go off the list", key)
	}
}

// TestPackagesOfTheServerAreSmall counts the lines of each package under server and internal. A room of a call holds what a reader wants to see
// together: it may have as many lines as budgets.txt says (docs/decisions/075-a-call-has-six-rooms.md).
func TestPackagesOfTheServerAreSmall(t *testing.T) {
	lines := map[string]int{}
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if (strings.HasPrefix(name, "server/") || strings.HasPrefix(name, "internal/")) && !strings.HasSuffix(name, "_test.go") {
			lines[filepath.Dir(name)] += fset.File(file.FileStart).LineCount()
		}
	})
	rooms := budgets(t, "lines")
	for folder, n := range lines {
		most := maxPackageLines
		if strings.HasPrefix(folder, "internal/call/") {
			most = max(most, rooms[folder]+1)
		}
		if n >= most {
			t.Errorf("%s has %d lines, not less than %d: find the second owner in it", folder, n, most)
		}
	}
}

// TestFilesSayWhatTheyAreFor wants one or two lines at the beginning of each file that is no test: a comment before the first
// declaration that belongs to the file or to this declaration, or the package's comment.
func TestFilesSayWhatTheyAreFor(t *testing.T) {
	silent := map[string][]string{}
	eachGoFile(t, func(name string, _ *token.FileSet, file *ast.File) {
		if !strings.HasSuffix(name, "_test.go") && !saysWhatItIsFor(file) {
			folder := filepath.Dir(name)
			silent[folder] = append(silent[folder], name)
		}
	})
	for _, folder := range slices.Sorted(maps.Keys(silent)) {
		t.Errorf("these files do not say in a comment at their beginning what they are responsible for: %s", strings.Join(silent[folder], " "))
	}
}

// saysWhatItIsFor reports whether a comment stands before the first declaration that is no import and does not belong to it, or
// whether the file has the package's comment.
func saysWhatItIsFor(file *ast.File) bool {
	if file.Doc != nil {
		return true
	}
	var first ast.Decl
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			first = d
			break
		}
	}
	if first == nil {
		return false
	}
	begin := first.Pos()
	switch d := first.(type) {
	case *ast.GenDecl:
		if d.Doc != nil {
			begin = d.Doc.Pos()
		}
	case *ast.FuncDecl:
		if d.Doc != nil {
			begin = d.Doc.Pos()
		}
	}
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
		return c.End() < begin && !strings.HasPrefix(c.List[0].Text, "//go:")
	})
}

// TestTheLinterSeesEachBuildTag wants each build tag in the linter's configuration, so that the linter reads the files that need it. The tags
// of platforms, of the race detector and of C stay out: the linter does not work with them. So does TinyGo's library, which is not ours.
func TestTheLinterSeesEachBuildTag(t *testing.T) {
	line := regexp.MustCompile(`(?m)^  build-tags: \[([a-z, ]*)\]`).FindSubmatch(read(t, ".golangci.yml"))
	if line == nil {
		t.Fatal(".golangci.yml has no build-tags")
	}
	known := append(strings.Split(string(line[1]), ", "), "linux", "darwin", "windows", "unix", "js", "amd64", "tinygo", "race", "cgo", "oto")
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if !constraint.IsGoBuild(c.Text) || strings.HasPrefix(name, "tools/tinygo/") {
					continue
				}
				condition, err := constraint.Parse(c.Text)
				if err != nil {
					t.Errorf("%s: %v", fset.Position(c.Pos()), err)
					continue
				}
				condition.Eval(func(tag string) bool {
					if !slices.Contains(known, tag) {
						t.Errorf("%s: the linter does not know the build tag %s: put it into build-tags in .golangci.yml", fset.Position(c.Pos()), tag)
					}
					return true
				})
			}
		}
	})
}

// TestPackagesWithoutDetectorStartNoGoroutine holds what scripts/native-test.sh says of the packages that it tests without the race
// detector: no code there starts a goroutine but tests that it names, which run with the detector.
func TestPackagesWithoutDetectorStartNoGoroutine(t *testing.T) {
	script := string(read(t, "scripts/native-test.sh"))
	value := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `='([^']*)'`).FindStringSubmatch(script)
		if m == nil {
			t.Fatalf("scripts/native-test.sh does not say %s", name)
		}
		return m[1]
	}
	pure := regexp.MustCompile(`^(` + strings.Join(strings.Fields(value("pure")), "|") + `)/`)
	pattern, _, _ := strings.Cut(value("several"), "/")
	several := regexp.MustCompile(pattern + "|^calls$") // TestCalls calls it
	// These are for tests of packages that are tested with the detector, or are themselves what the named tests run.
	helpers := regexp.MustCompile(`^internal/coordtest/|^internal/engine/pipetest/`)
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if !pure.MatchString(name) || helpers.MatchString(name) {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || several.MatchString(f.Name.Name) {
				continue
			}
			for _, at := range starts(f) {
				t.Errorf("%s: %s starts a goroutine: name it in scripts/native-test.sh, or test the package with the race detector",
					fset.Position(at), f.Name.Name)
			}
		}
	})
}

// starts returns where a function starts goroutines: by go, or by a method Go as that of sync.WaitGroup.
func starts(f *ast.FuncDecl) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at = append(at, n.Pos())
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}
