package parse

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ast "fizz/proto"
	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// FuzzFile: nothing makes the parser panic; what it refuses it refuses with a place in the file; and of what it accepts
// nothing is lost: written out again, the tree is the same tree, and every word of the source is still there.
func FuzzFile(f *testing.F) {
	specs, err := filepath.Glob(filepath.Join("testdata", "*.fizz"))
	if err != nil || len(specs) == 0 {
		f.Fatalf("found %d specs to begin with in testdata: %v", len(specs), err)
	}
	for _, spec := range specs {
		src, err := os.ReadFile(spec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		g := NewWithT(t)
		tree, err := File("a.fizz", src)
		if err != nil {
			expectPlace(g, err, src)
			return
		}
		Targets(tree)
		out := format(tree)
		again, err := File("a.fizz", []byte(out))
		g.Expect(err).NotTo(HaveOccurred(), "%s", out)
		// The empty lines before the options are there for their line numbers.
		tree.FrontMatter.Yaml = strings.TrimLeft(tree.FrontMatter.Yaml, "\n")
		again.FrontMatter.Yaml = strings.TrimLeft(again.FrontMatter.Yaml, "\n")
		g.Expect(proto.Equal(bare(again), bare(tree))).To(BeTrue(), "%s\nbecame\n%s", prototext.Format(tree), prototext.Format(again))
		g.Expect(words(g, out)).To(Equal(words(g, string(src))), "%s", out)
	})
}

func expectPlace(g *WithT, err error, src []byte) {
	g.THelper()
	var e *Error
	g.Expect(errors.As(err, &e)).To(BeTrue())
	g.Expect(e.Line).To(BeNumerically(">=", 1))
	g.Expect(e.Line).To(BeNumerically("<=", strings.Count(string(src), "\n")+1))
	g.Expect(e.Col).To(BeNumerically(">=", 1))
	g.Expect(e.Col).To(BeNumerically("<=", len(src)+1))
	g.Expect(e.Found).NotTo(BeEmpty())
	g.Expect(e.Want).NotTo(BeEmpty())
	g.Expect(e.Error()).NotTo(ContainSubstring("\n"))
}

// ignored are the words that may go or come when a tree is written out: where the tree says the same without them.
var ignored = set("atomic", "serial", "parallel", "oneof", "any", "fair", "if", "elif", ":", ",", "(", ")", "<", ">", "pass")

// words are the words of a spec in the order of the alphabet, but for comments in quotes.
func words(g *WithT, src string) []string {
	g.THelper()
	text := strings.ReplaceAll(src, "\r\n", "\n")
	front, err := frontMatter("", text)
	g.Expect(err).NotTo(HaveOccurred())
	toks := lex(text[front.end:], 1, 1)
	found := []string{strings.TrimLeft(front.yaml, "\n")}
	for i, t := range toks {
		comment := t.kind == tString && (i == 0 || toks[i-1].kind <= tDedent || toks[i-1].is(":")) && toks[i+1].kind == tNewline
		level := i >= 2 && toks[i-1].is("<") && toks[i-2].is("fair")
		if t.kind > tDedent && !ignored[t.text] && !comment && !level {
			found = append(found, t.text)
		}
	}
	slices.Sort(found)
	return found
}

// bare drops where things stand.
func bare(f *ast.File) *ast.File {
	f = proto.CloneOf(f)
	drop(f.ProtoReflect())
	return f
}

func drop(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Name() == "source_info" || fd.Name() == "py_code":
			m.Clear(fd)
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				drop(v.List().Get(i).Message())
			}
		case fd.Message() != nil:
			drop(v.Message())
		}
		return true
	})
}
