// Command machinegen writes machine_gen.go for each machine in the folders of its arguments. A machine is a package with the interfaces
// State, Event and Effect. The file has what the package would otherwise repeat:
//   - for each interface with the comment //sumtype:decl the methods that make types members of it: the unexported methods, which do
//     nothing, and Name, which returns the type's name. The comment of the interface lists the members: "Event is one of Opened, Lost, Closed.";
//   - row, edge, on, when and ignore: those of package machine with the types of this machine;
//   - Values, which returns one value of each type of state, event and effect;
//   - for a line "//machine:field NAME FIELD DOC" in the comment of an interface the function NAME, which returns the field of a member;
//   - Monitor, in a package with a type Seen: the package's comment lists the invariants under "# Invariants", and the function of one has its
//     name with a small letter at the beginning.
//
// What the package has already is left out.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const output = "machine_gen.go"

// list is where the comment of an interface names its members.
var list = regexp.MustCompile(`\bone of ((?:[A-Z]\w*,\s+)*[A-Z]\w*)`)

func main() {
	for _, root := range os.Args[1:] {
		folders, err := filepath.Glob(filepath.Join(root, "*"))
		for _, folder := range folders {
			err = errors.Join(err, generate(folder))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "machinegen:", err)
			os.Exit(1)
		}
	}
}

// sum is an interface with its members.
type sum struct {
	name    string
	methods []string // its own, in order
	embeds  []string // interfaces of the package
	members []string
	fields  [][]string // of each function for a field: its name, the field, and its comment without the name
}

// source is what the package has by hand.
type source struct {
	pkg   string
	sums  []sum
	types map[string]bool
	parts map[string][]*ast.Field // the fields of a struct
	as    map[string]string       // of a type that is like another one: that one
	has   map[string]bool         // "Type.method", "function", "variable"
	// The names of the invariants in the package's comment, and of the functions that are invariants.
	listed, invariants []string
}

// generate writes the file of the package in a folder, if the package is a machine.
func generate(folder string) error {
	src := source{types: map[string]bool{}, parts: map[string][]*ast.Field{}, as: map[string]string{}, has: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == output {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		src.pkg = f.Name.Name
		src.listed = append(src.listed, invariantsIn(f.Doc.Text())...)
		for _, d := range f.Decls {
			src.read(d)
		}
	}
	if !src.types["State"] || !src.types["Event"] || !src.types["Effect"] || len(src.membersOf("State")) == 0 {
		return nil
	}
	out, err := src.file()
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	return os.WriteFile(filepath.Join(folder, output), out, 0o644)
}

// read notes a declaration.
func (src *source) read(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			src.has[d.Name.Name] = true
			if isInvariant(d.Type) {
				src.invariants = append(src.invariants, d.Name.Name)
			}
		} else {
			if of, is := d.Recv.List[0].Type.(*ast.Ident); is {
				src.has[of.Name+"."+d.Name.Name] = true
			}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, is := s.(*ast.ValueSpec); is {
				src.has[v.Names[0].Name] = true
			}
			t, is := s.(*ast.TypeSpec)
			if !is {
				continue
			}
			src.types[t.Name.Name] = true
			switch of := t.Type.(type) {
			case *ast.StructType:
				src.parts[t.Name.Name] = of.Fields.List
			case *ast.Ident:
				src.as[t.Name.Name] = of.Name
			}
			face, is := t.Type.(*ast.InterfaceType)
			if is && d.Doc != nil && strings.Contains(fmt.Sprint(directives(d.Doc)), "//sumtype:decl") {
				src.sums = append(src.sums, sumOf(t.Name.Name, face, d.Doc.Text(), directives(d.Doc)))
			}
		}
	}
}

// invariantsIn returns the names of the invariants that the comment of a package lists.
func invariantsIn(doc string) (names []string) {
	_, list, _ := strings.Cut(doc, "# Invariants\n")
	list, _, _ = strings.Cut(list, "\n# ")
	for line := range strings.Lines(list) {
		if name, is := strings.CutPrefix(line, "  - "); is {
			name, _, _ = strings.Cut(name, ":")
			names = append(names, name)
		}
	}
	return names
}

// isInvariant reports whether a function has the parameters of an invariant: what the monitor remembers before and after a step, and the step.
func isInvariant(f *ast.FuncType) bool {
	var types []string
	for _, p := range f.Params.List {
		of, _ := p.Type.(*ast.Ident)
		for range p.Names {
			types = append(types, fmt.Sprint(of))
		}
	}
	return slices.Equal(types, []string{"Seen", "Seen", "edge"})
}

func directives(doc *ast.CommentGroup) (out []string) {
	for _, c := range doc.List {
		out = append(out, c.Text)
	}
	return out
}

func sumOf(name string, face *ast.InterfaceType, doc string, lines []string) sum {
	s := sum{name: name}
	for _, line := range lines {
		if of, is := strings.CutPrefix(line, "//machine:field "); is {
			s.fields = append(s.fields, strings.SplitN(of, " ", 3))
		}
	}
	for _, m := range face.Methods.List {
		if of, is := m.Type.(*ast.Ident); is {
			s.embeds = append(s.embeds, of.Name)
		}
		for _, n := range m.Names {
			s.methods = append(s.methods, n.Name)
		}
	}
	if found := list.FindStringSubmatch(doc); found != nil {
		for member := range strings.SplitSeq(found[1], ",") {
			s.members = append(s.members, strings.TrimSpace(member))
		}
	}
	return s
}

// frame are the functions and types of package machine with the types of a machine, each after its name.
var frame = [][2]string{
	{"row", "type row = machine.Row[State, Event, Effect]"},
	{"edge", "type edge = machine.Edge[State, Event, Effect]"},
	{"on", `// on, when and ignore are the functions of package machine with the types of this machine.
func on[From State, Ev Event, To State](action string, f func(From, Ev) (To, []Effect)) row {
	return machine.On[State, Event](action, f)
}`},
	{"when", `func when[From State, Ev Event, To State](action, guard string, holds func(From, Ev) bool, f func(From, Ev) (To, []Effect)) row {
	return machine.When[State, Event](action, guard, holds, f)
}`},
	{"ignore", `func ignore(why string, from State, on ...Event) []row {
	return machine.Ignore[State, Event, Effect](why, from, on...)
}`},
}

// file returns the generated file.
func (src *source) file() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by internal/machinegen; DO NOT EDIT.\n\npackage %s\n\nimport %q\n", src.pkg, "github.com/antiphon-rt/antiphon/coord/machine")
	for _, part := range frame {
		if !src.has[part[0]] && !src.types[part[0]] {
			fmt.Fprintf(&b, "\n%s\n", part[1])
		}
	}
	for _, s := range src.sums {
		methods := src.methodsOf(s)
		for _, member := range s.members {
			if !src.types[member] {
				return nil, fmt.Errorf("the comment of %s names %s, which is no type of package %s", s.name, member, src.pkg)
			}
			for _, method := range methods {
				if src.has[member+"."+method] {
					continue
				}
				src.has[member+"."+method] = true
				if method == "Name" {
					fmt.Fprintf(&b, "\n// Name is the name in diagrams, logs and the specification.\nfunc (%s) Name() string { return %q }\n", member, member)
				} else {
					fmt.Fprintf(&b, "func (%s) %s() {}\n", member, method)
				}
			}
		}
	}
	for _, s := range src.sums {
		for _, f := range s.fields {
			if err := src.field(&b, s, f); err != nil {
				return nil, err
			}
		}
	}
	fmt.Fprintf(&b, "\n// Values returns one value of each type of state, event and effect.\nfunc Values() ([]State, []Event, []Effect) {\n")
	fmt.Fprintf(&b, "\treturn []State{%s},\n\t\t[]Event{%s},\n\t\t[]Effect{%s}\n}\n",
		src.values("State"), src.values("Event"), src.values("Effect"))
	if src.types["Seen"] && !src.has["Monitor"] {
		if err := src.monitor(&b); err != nil {
			return nil, err
		}
	}
	return format.Source(b.Bytes())
}

// field writes the function that returns a field of the members of a sum, or the zero value for a member without it.
func (src *source) field(b *bytes.Buffer, s sum, f []string) error {
	wrong := fmt.Errorf("//machine:field %s of %s: want the name of the function, a field that a member has, and a comment", strings.Join(f, " "), s.name)
	if len(f) != 3 {
		return wrong
	}
	var cases strings.Builder
	var of string
	for _, member := range src.membersOf(s.name) {
		is := member
		if src.as[is] != "" {
			is = src.as[is]
		}
		at := slices.IndexFunc(src.parts[is], func(p *ast.Field) bool {
			return slices.ContainsFunc(p.Names, func(n *ast.Ident) bool { return n.Name == f[1] })
		})
		if at >= 0 {
			of = types.ExprString(src.parts[is][at].Type)
			fmt.Fprintf(&cases, "\tcase %s:\n\t\treturn x.%s\n", member, f[1])
		}
	}
	if of == "" {
		return wrong
	}
	fmt.Fprintf(b, "\n// %s %s\nfunc %s(x %s) (none %s) {\n\tswitch x := x.(type) {\n%s\t}\n\treturn none\n}\n", f[0], f[2], f[0], s.name, of, &cases)
	return nil
}

// monitor writes the monitor of the machine.
func (src *source) monitor(b *bytes.Buffer) error {
	const named = "[State, Event, Effect, Seen]"
	see := "machine.See" + named
	if src.has["see"] {
		see = "see"
	}
	fmt.Fprintf(b, "\n// Monitor checks the invariants of the machine after every step. The tests use it, and so does a program that is configured to check its\n")
	fmt.Fprintf(b, "// invariants.\nvar Monitor = machine.Monitor%s{\n\tSee: %s,\n\tInvariants: []machine.Invariant%s{\n", named, see, named)
	left := slices.Clone(src.invariants)
	for _, name := range src.listed {
		is := func(f string) bool { return strings.EqualFold(f, name) }
		at := slices.IndexFunc(left, is)
		f := strings.ToLower(name[:1]) + name[1:]
		switch {
		case at >= 0:
			f = left[at]
			left = slices.Delete(left, at, at+1)
		case !src.has[f]:
			return fmt.Errorf("the comment of package %s lists the invariant %s, and no function has its name", src.pkg, name)
		}
		fmt.Fprintf(b, "\t\t{Name: %q, Holds: %s},\n", name, f)
	}
	if len(left) > 0 {
		return fmt.Errorf("the comment of package %s does not list the invariants %s", src.pkg, strings.Join(left, ", "))
	}
	b.WriteString("\t},\n}\n")
	return nil
}

// methodsOf returns the methods of an interface and of those that it embeds.
func (src *source) methodsOf(s sum) []string {
	out := slices.Clone(s.methods)
	for _, other := range src.sums {
		if slices.Contains(s.embeds, other.name) {
			out = append(out, src.methodsOf(other)...)
		}
	}
	return out
}

// membersOf returns the members of an interface and of those that embed it.
func (src *source) membersOf(name string) (out []string) {
	for _, s := range src.sums {
		if s.name == name || slices.Contains(s.embeds, name) {
			out = append(out, s.members...)
		}
	}
	return out
}

// values writes a value of each member of an interface.
func (src *source) values(name string) string {
	var out []string
	for _, member := range src.membersOf(name) {
		out = append(out, member+"{}")
	}
	return strings.Join(out, ", ")
}
