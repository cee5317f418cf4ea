package parse

// Fuzz tests of the parser.

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
	f.Fuzz(func(t *testing.T, src []byte) { expectNothingLost(NewWithT(t), src) })
}

// The same for every word of a spec that has the whole language: left out, doubled, swapped with the next one, and
// replaced by words that stand elsewhere.
func TestNoWordIsLostWhereASpecIsBroken(t *testing.T) {
	g := NewWithT(t)
	src, err := os.ReadFile(filepath.Join("testdata", "language.fizz"))
	g.Expect(err).NotTo(HaveOccurred())
	front, err := frontMatter("", string(src))
	g.Expect(err).NotTo(HaveOccurred())
	body := string(src[front.end:])
	toks := lex(body, 1)
	accepted, broken := 0, 0
	try := func(from, to token, with string) {
		broken++
		if expectNothingLost(g, []byte(body[:from.start]+with+body[to.end:])) {
			accepted++
		}
	}
	for i, a := range toks[:len(toks)-2] {
		if a.kind <= tDedent {
			continue
		}
		b := toks[i+1]
		try(a, a, "")
		try(a, a, a.text+" "+a.text)
		if b.kind > tDedent {
			try(a, b, b.text+" "+a.text)
		}
		for _, word := range []string{"x", "any", ":", "="} {
			try(a, a, word)
		}
	}
	t.Logf("%d of %d broken specs are specs as well", accepted, broken)
	g.Expect(accepted).To(BeNumerically("<", broken/2))
}

// expectNothingLost tells whether the source is a spec.
func expectNothingLost(g *WithT, src []byte) bool {
	g.THelper()
	tree, err := File("a.fizz", src)
	if err != nil {
		expectPlace(g, err, src)
		return false
	}
	Targets(tree)
	out := format(tree)
	again, err := File("a.fizz", []byte(out))
	g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	// The empty lines before the options are there for their line numbers.
	tree.FrontMatter.Yaml = strings.TrimLeft(tree.FrontMatter.Yaml, "\n")
	again.FrontMatter.Yaml = strings.TrimLeft(again.FrontMatter.Yaml, "\n")
	g.Expect(proto.Equal(bare(again), bare(tree))).To(BeTrue(), func() string {
		return prototext.Format(tree) + "\nbecame\n" + prototext.Format(again)
	})
	g.Expect(words(g, out)).To(Equal(words(g, string(src))), "%s", out)
	return true
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
	toks := lex(text[front.end:], 1)
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
