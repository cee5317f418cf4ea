package house

// What the server keeps for a client has a bound: in the code where it reads, and in docs/limits.md where it waits.

import (
	"go/ast"
	"go/printer"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// serves are the folders of what runs in a server.
var serves = regexp.MustCompile(`^(internal/(call|httpapi|httpguard|runs|journal|once|cluster|speechapi|store|steps|telemetry|oneport|hangup|engine|mcp)|server)/`)

// eachServerFile visits the files of what runs in a server, without tests.
func eachServerFile(t *testing.T, visit func(name string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	seen := 0
	eachGoFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if serves.MatchString(name) && written(name) && !strings.Contains(name, "test/") {
			seen++
			visit(name, fset, file)
		}
	})
	if seen == 0 {
		t.Fatal("there is no file of a server")
	}
}

// textOf returns a node as it is written.
func textOf(fset *token.FileSet, n ast.Node) string {
	var text strings.Builder
	_ = printer.Fprint(&text, fset, n) // a Builder does not fail
	return text.String()
}

// TestEveryReadIsBounded wants that each io.ReadAll of the server says how much it reads at most: by io.LimitReader or http.MaxBytesReader in the same call.
func TestEveryReadIsBounded(t *testing.T) {
	bound := regexp.MustCompile(`\b(io\.LimitReader|http\.MaxBytesReader)\(`)
	eachServerFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && textOf(fset, call.Fun) == "io.ReadAll" && !bound.MatchString(textOf(fset, call)) {
				t.Errorf("%s: %s has no bound: read from an io.LimitReader or an http.MaxBytesReader", fset.Position(call.Pos()), textOf(fset, call))
			}
			return true
		})
	})
}

// TestEveryQueueHasItsBound wants that each file with a channel for more than one value, and each file that takes bytes from an account, is in docs/limits.md, which says how much
// may wait there.
func TestEveryQueueHasItsBound(t *testing.T) {
	limits := string(read(t, "docs/limits.md"))
	eachServerFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		if strings.Contains(limits, "`"+name+"`") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch fun := textOf(fset, call.Fun); {
			case fun == "make" && len(call.Args) == 2 && strings.HasPrefix(textOf(fset, call.Args[0]), "chan ") && !smallChannel(fset, call):
				t.Errorf("%s: %s: name %s in docs/limits.md, with what may wait there", fset.Position(call.Pos()), textOf(fset, call), path.Base(name))
			case fun == "account.New":
				t.Errorf("%s: %s: name %s in docs/limits.md, with what is shared", fset.Position(call.Pos()), textOf(fset, call), path.Base(name))
			}
			return true
		})
	})
}

// smallChannel reports whether a channel has room for one or two values, or for values that have no size.
func smallChannel(fset *token.FileSet, call *ast.CallExpr) bool {
	room := textOf(fset, call.Args[1])
	return room == "0" || room == "1" || room == "2" || textOf(fset, call.Args[0]) == "chan struct{}"
}
