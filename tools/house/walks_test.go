package house

// The walks of docs/architecture.md: each step is a function that exists, and no walk goes back.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxRooms is how many packages one event may walk through.
const maxRooms = 6

// walkStep is a row of a walk's table: a package, a function of it, and what happens.
var walkStep = regexp.MustCompile("(?m)^\\| `([^`|]+)` \\| `([^`|]+)` \\| [^|]+ \\|$")

func TestWalksAreRoads(t *testing.T) {
	_, walks, found := strings.Cut(documents(t)["docs/architecture.md"], "\n## Three walks\n")
	walks, _, _ = strings.Cut(walks, "\n## ")
	sections := strings.Split(walks, "\n### ")[1:]
	if !found || len(sections) != 3 {
		t.Fatalf("docs/architecture.md has %d walks under \"Three walks\", want 3", len(sections))
	}
	functions := map[string]map[string]bool{}
	for _, section := range sections {
		title, _, _ := strings.Cut(section, "\n")
		steps := walkStep.FindAllStringSubmatch(section, -1)
		if len(steps) < 5 {
			t.Errorf("the walk %q has %d steps: has its table changed?", title, len(steps))
		}
		for _, wrong := range unreached(steps, func(room string) map[string]bool { return namesIn(t, room) }) {
			t.Errorf("the walk %q: %s", title, wrong)
		}
		for _, wrong := range checkWalk(steps, func(room string) map[string]bool {
			if functions[room] == nil {
				functions[room] = functionsOf(t, room)
			}
			return functions[room]
		}) {
			t.Errorf("the walk %q: %s", title, wrong)
		}
	}
}

// checkWalk returns what is wrong with the steps of one walk. Each step is a match of walkStep.
func checkWalk(steps [][]string, functions func(room string) map[string]bool) (wrong []string) {
	var rooms []string
	for _, step := range steps {
		room, function := step[1], step[2]
		if len(rooms) == 0 || rooms[len(rooms)-1] != room {
			for _, left := range rooms {
				if left == room {
					wrong = append(wrong, "it returns to "+room)
				}
			}
			rooms = append(rooms, room)
		}
		if !functions(room)[function] {
			wrong = append(wrong, room+" has no function "+function)
		}
	}
	if len(rooms) > maxRooms {
		wrong = append(wrong, "it goes through more than six rooms: "+strings.Join(rooms, ", "))
	}
	return wrong
}

// unreached returns the steps of a walk that the code does not reach: nothing in the packages up to that of the step names its function.
func unreached(steps [][]string, names func(room string) map[string]bool) (wrong []string) {
	for i, step := range steps {
		function := step[2][strings.LastIndex(step[2], ".")+1:]
		if i > 0 && !slices.ContainsFunc(steps[:i+1], func(before []string) bool { return names(before[1])[function] }) {
			wrong = append(wrong, "no package before "+step[2]+" in "+step[1]+" calls it")
		}
	}
	return wrong
}

// namesIn returns the names that the code of a package uses, but for those that it only declares.
func namesIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, folder), func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range packages {
		for _, file := range p.Files {
			declared := map[*ast.Ident]bool{}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					declared[n.Name] = true
				case *ast.Field:
					for _, name := range n.Names {
						declared[name] = true
					}
				case *ast.Ident:
					if !declared[n] {
						names[n.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
}

func TestAStepThatNobodyCallsIsSeen(t *testing.T) {
	names := func(room string) map[string]bool { return map[string]bool{"F": room == "a", "G": room == "b"} }
	for want, steps := range [][][]string{
		0: {{"", "a", "H"}, {"", "a", "F"}, {"", "b", "T.G"}},
		1: {{"", "a", "F"}, {"", "a", "G"}},
	} {
		if wrong := unreached(steps, names); len(wrong) != want {
			t.Errorf("%v: %v", steps, wrong)
		}
	}
}

// functionsOf returns the functions and methods of a package, methods as "Type.method".
func functionsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, folder), func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, p := range packages {
		for _, file := range p.Files {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					names[receiver(f)+f.Name.Name] = true
				}
			}
		}
	}
	return names
}

// receiver returns the name of a method's type with a dot, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

func TestAWrongWalkIsSeen(t *testing.T) {
	known := func(room string) map[string]bool { return map[string]bool{"F": room != "nowhere"} }
	step := func(room, function string) []string { return []string{"", room, function} }
	for name, row := range map[string]struct {
		steps [][]string
		wrong int
	}{
		"a road":                      {[][]string{step("a", "F"), step("a", "F"), step("b", "F")}, 0},
		"a function that is not":      {[][]string{step("a", "G")}, 1},
		"a room that is not":          {[][]string{step("nowhere", "F")}, 1},
		"a way back":                  {[][]string{step("a", "F"), step("b", "F"), step("a", "F")}, 1},
		"seven rooms":                 {[][]string{step("a", "F"), step("b", "F"), step("c", "F"), step("d", "F"), step("e", "F"), step("f", "F"), step("g", "F")}, 1},
		"a way back to an older room": {[][]string{step("a", "F"), step("b", "F"), step("c", "F"), step("b", "F")}, 1},
	} {
		if wrong := checkWalk(row.steps, known); len(wrong) != row.wrong {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}
