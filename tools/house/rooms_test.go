package house

// The rooms of a call: no room gets a function of another room, and the states of a response in docs/architecture.md are those of the code.

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

// roomFolders are the packages of the rooms that the actor calls.
var roomFolders = []string{"internal/call/conversation", "internal/call/listening", "internal/call/speaking", "internal/call/runs", "internal/call/remote", "internal/call/survival"}

// roomFunctions are the functions that a room gets from outside, with the reason. None is of another room.
var roomFunctions = map[string]string{
	"listening.Parts.Post":             "the actor's queue",
	"listening.Parts.EndOfTurn":        "the pipeline makes an estimator for a language",
	"listening.GateParts.Trace":        "the program observes the machines",
	"listening.GateParts.Broken":       "the program observes the machines",
	"speaking.Parts.Post":              "the actor's queue",
	"speaking.Parts.Trace":             "the program observes the machines",
	"speaking.Parts.Broken":            "the program observes the machines",
	"speaking.Parts.Timed":             "the program observes the times of turns",
	"speaking.NewPlayer.post":          "the actor's queue",
	"conversation.SummaryParts.Post":   "the actor's queue",
	"conversation.SummaryParts.Trace":  "the program observes the machine",
	"conversation.SummaryParts.Broken": "the program observes the machine",
	"survival.Parts.Trace":             "the program observes the machine",
	"survival.Parts.Broken":            "the program observes the machine",
	"runs.Parts.Post":                  "the actor's queue",
	"remote.Parts.Post":                "the actor's queue",
	"runs.Access.Act":                  "the program carries out a request for a run",
}

func TestNoRoomGetsAFunctionOfAnother(t *testing.T) {
	seen := map[string]bool{}
	for _, folder := range roomFolders {
		packages, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, folder), func(f fs.FileInfo) bool {
			return !strings.HasSuffix(f.Name(), "_test.go")
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range packages {
			for _, file := range p.Files {
				for _, taken := range takenFunctions(file) {
					taken = name + "." + taken
					seen[taken] = true
					if roomFunctions[taken] == "" {
						t.Errorf("%s takes a function: give it the fact with the event, or return what is to be done", taken)
					}
				}
			}
		}
	}
	for taken := range roomFunctions {
		if !seen[taken] {
			t.Errorf("%s is on the list of roomFunctions and takes no function", taken)
		}
	}
}

// takenFunctions returns where a file of a room takes functions from outside: the exported fields of its exported structs, and the parameters of its exported
// functions and methods, of a function type or of one that has functions in it.
func takenFunctions(file *ast.File) (taken []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if of := strings.TrimSuffix(receiver(d), "."); !d.Name.IsExported() || of != "" && !ast.IsExported(of) {
				continue // no other room can call it; a stage that a room makes itself is such a type
			}
			for _, p := range d.Type.Params.List {
				for _, n := range p.Names {
					if takesFunction(p.Type) {
						taken = append(taken, receiver(d)+d.Name.Name+"."+n.Name)
					}
				}
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				of, isType := spec.(*ast.TypeSpec)
				if !isType || !of.Name.IsExported() {
					continue
				}
				structure, isStruct := of.Type.(*ast.StructType)
				if !isStruct {
					continue
				}
				for _, f := range structure.Fields.List {
					for _, n := range f.Names {
						if n.IsExported() && takesFunction(f.Type) {
							taken = append(taken, of.Name.Name+"."+n.Name)
						}
					}
				}
			}
		}
	}
	return taken
}

// takesFunction reports whether a type is one of functions, also in a slice, a map, a channel or behind a pointer.
func takesFunction(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, is := n.(*ast.FuncType)
		found = found || is
		return !found
	})
	return found
}

func TestATakenFunctionIsSeen(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "", `package room
type Parts struct { Said func(string); quiet func(); Words []string; Many map[string]func() }
type own struct { Said func() }
func New(post func() bool, n int) *Parts { return nil }
func (p *Parts) Take(all ...func()) {}
func (p *Parts) take(one func()) {}
func (o own) Take(one func()) {}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Parts.Said", "Parts.Many", "New.post", "Parts.Take.all"}
	if got := takenFunctions(file); !slices.Equal(got, want) {
		t.Errorf("takenFunctions: %v, want %v", got, want)
	}
}

// stateOfResponse is a state in the diagram of a response: the machine and the name of the state.
var stateOfResponse = regexp.MustCompile(`(?m)^    state "([a-z]+): ([A-Za-z]+)" as `)

// TestStatesOfAResponseExist holds the diagram to the machines: each of its states is a type with the method state.
func TestStatesOfAResponseExist(t *testing.T) {
	found := stateOfResponse.FindAllStringSubmatch(documents(t)["docs/architecture.md"], -1)
	if len(found) < 7 {
		t.Fatalf("docs/architecture.md has %d states of a response: has its diagram changed?", len(found))
	}
	for _, s := range found {
		if !methodsOf(t, "coord/"+s[1], "state")[s[2]] {
			t.Errorf("docs/architecture.md: coord/%s has no state %s", s[1], s[2])
		}
	}
}
