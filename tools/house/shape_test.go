package house

import (
	"bytes"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

const (
	maxFileLines = 500
	maxFuncLines = 70
)

func TestFilesAndFunctionsAreShort(t *testing.T) {
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if n := fset.File(file.FileStart).LineCount(); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: find the second idea in it", name, n, maxFileLines)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := fset.Position(f.Pos()), fset.Position(f.End())
			if n := last.Line - first.Line; n > maxFuncLines {
				t.Errorf("%s: %s has %d lines, more than %d", first, f.Name.Name, n, maxFuncLines)
			}
		}
	})
}

// The linter bans the packages that make a goroutine's life; this bans the
// statements.
func TestPureCodeHasNoConcurrency(t *testing.T) {
	pure := regexp.MustCompile(`^(coord|wire|voice)/`)
	program := regexp.MustCompile(`_test\.go$|^coord/coordtest/|/internal/gen/`)
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if !pure.MatchString(name) || program.MatchString(name) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
				t.Errorf("%s: coord, wire and voice start nothing and share nothing: no go, select or chan", fset.Position(n.Pos()))
			}
			return true
		})
	})
}

func TestNothingIsUnfinished(t *testing.T) {
	// Spelled so that this file does not find itself. In quotes it is a text, not a note.
	unfinished := regexp.MustCompile(`(^|[^"\w])(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
	for _, name := range tracked(t, "*.go", "*.js", "*.ts", "*.css", "*.sh", "Makefile", "*.md") {
		for i, line := range bytes.Split(read(t, name), []byte("\n")) {
			if unfinished.Match(line) {
				t.Errorf("%s:%d: %s", name, i+1, bytes.TrimSpace(line))
			}
		}
	}
}

func TestPackagesAreNamedForWhatTheyProvide(t *testing.T) {
	for _, name := range tracked(t, "*.go") {
		switch dir := filepath.Base(filepath.Dir(name)); dir {
		case "util", "utils", "common", "helpers", "misc":
			t.Errorf("%s: a package is named for what it provides, not %q", name, dir)
		}
	}
}
