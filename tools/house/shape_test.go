package house

// The limits on the length of files and functions, and on goroutines.

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
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
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				checkLength(t, fset, f.Name.Name, f, strings.HasSuffix(name, "_test.go"))
			}
		}
	})
}

// checkLength measures one function. In a test a function literal of several lines is a test of its own: it is measured by
// itself and does not count for what is around it.
func checkLength(t *testing.T, fset *token.FileSet, name string, f ast.Node, test bool) {
	t.Helper()
	lines := func(n ast.Node) int { return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line }
	n := lines(f)
	ast.Inspect(f, func(inner ast.Node) bool {
		literal, ok := inner.(*ast.FuncLit)
		if !ok || inner == f || !test {
			return true
		}
		n -= lines(literal)
		checkLength(t, fset, name, literal, test)
		return false
	})
	if n > maxFuncLines {
		t.Errorf("%s: %s has %d lines, more than %d", fset.Position(f.Pos()), name, n, maxFuncLines)
	}
}

// The linter bans the packages that make a goroutine's life; this bans the
// statements.
func TestPureCodeHasNoConcurrency(t *testing.T) {
	pure := regexp.MustCompile(`^(coord|wire|internal/(coord|projection|voice))/`)
	program := regexp.MustCompile(`_test\.go$|/internal/gen/`)
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

// sessionStarts returns the positions of the statements of a file of package sdk that start a goroutine themselves.
func sessionStarts(file *ast.File) (starts []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		if statement, ok := n.(*ast.GoStmt); ok {
			starts = append(starts, statement.Pos())
		}
		return true
	})
	return starts
}

// A session starts a goroutine only by Options.Go. The linter bans clocks, timers and random numbers there.
func TestASessionStartsNoGoroutineItself(t *testing.T) {
	session := regexp.MustCompile(`^sdk/([^/]+|internal/.+)\.go$`)
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if !session.MatchString(name) || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "sdk/internal/system/") {
			return
		}
		for _, at := range sessionStarts(file) {
			t.Errorf("%s: a session starts goroutines by Session.background, which uses Options.Go", fset.Position(at))
		}
	})
}

// The test above finds what it is to find.
func TestAGoroutineOfASessionIsFound(t *testing.T) {
	for text, want := range map[string]int{
		"go f()":                             1,
		"go func() { go f() }()":             2,
		"if true { g(func() { go f() }) }":   1,
		"s.spawn(func() { f() }); f(); g(f)": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "sdk/x.go", "package sdk\nfunc x() { "+text+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(sessionStarts(file)); got != want {
			t.Errorf("%s: %d statements were found, not %d", text, got, want)
		}
	}
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
