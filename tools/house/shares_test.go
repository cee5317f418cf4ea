package house

// What principals share: docs/limits.md has one table of it, which says what the code does.

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestEveryShareIsInTheTable wants that the table "What principals share" has a row for each file with a Budget of package account, and for each file that says how much a holder has beside
// a Budget (a constant own…), with the numbers of the code and with flags that exist. So who takes from a Budget, or makes one, has to say it there. The table has no other rows.
func TestEveryShareIsInTheTable(t *testing.T) {
	_, after, found := strings.Cut(string(read(t, "docs/limits.md")), "\n## What principals share\n")
	if !found {
		t.Fatal("docs/limits.md has no table of what principals share")
	}
	rows := map[string]string{} // by file
	table, _, _ := strings.Cut(after, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\|.*\\| `([^`]+\\.go)` \\|$").FindAllStringSubmatch(table, -1) {
		rows[row[1]] = row[0]
	}
	wants, consts := map[string][]string{}, map[string]ast.Expr{} // sizes by file; values by folder and name
	eachServerFile(t, func(name string, _ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
				for i, c := range v.Names {
					consts[path.Dir(name)+" "+c.Name] = v.Values[i]
				}
			}
			return true
		})
	})
	eachServerFile(t, func(name string, fset *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if textOf(fset, n.Fun) == "account.New" {
					wants[name] = append(wants[name], sizeOf(consts[path.Dir(name)+" "+textOf(fset, n.Args[0])]))
				}
			case *ast.ValueSpec:
				for i, c := range n.Names {
					if regexp.MustCompile(`^[oO]wn[A-Z]`).MatchString(c.Name) && i < len(n.Values) && strings.Contains(textOf(fset, n.Values[i]), "<<") {
						wants[name] = append(wants[name], sizeOf(n.Values[i]))
					}
				}
			}
			return true
		})
	})
	for name, sizes := range wants {
		for _, size := range sizes {
			if !regexp.MustCompile(`\b` + size + `\b`).MatchString(rows[name]) {
				t.Errorf("docs/limits.md, What principals share: %s wants a row with %q", name, size)
			}
		}
	}
	for name, row := range rows {
		if len(wants[name]) == 0 {
			t.Errorf("docs/limits.md, What principals share: %s shares nothing: %s", name, row)
		}
	}
	flags := string(read(t, "cmd/antiphon/limits.go"))
	for _, flag := range regexp.MustCompile("\\b(\\d+) MiB \\(`--([a-z-]+)`\\)").FindAllStringSubmatch(table, -1) {
		field := ""
		for _, word := range strings.Split(flag[2], "-") {
			field += strings.ToUpper(word[:1]) + word[1:]
		}
		if !regexp.MustCompile(`\b` + field + ` .*default:"` + flag[1] + `"`).MatchString(flags) {
			t.Errorf("docs/limits.md, What principals share: there is no flag --%s with the default %s", flag[2], flag[1])
		}
	}
}

// sizeOf returns the value of a constant as docs/limits.md writes it: "64 KiB". It is "" for one that is computed from others.
func sizeOf(e ast.Expr) string {
	if e == nil {
		return ""
	}
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(e))
	if err != nil {
		return ""
	}
	n, _ := constant.Int64Val(v.Value)
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprint(n>>20, " MiB")
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprint(n>>10, " KiB")
	}
	return fmt.Sprint(n)
}
