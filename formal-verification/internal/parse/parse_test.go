package parse

// The parser on FizzBee's own examples.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	ast "fizz/proto"
	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// examples are the specs that FizzBee ships, read where its module lies.
func examples(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/fizzbee-io/fizzbee").Output()
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	specs, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "examples", pattern, "*.fizz"))
	g.Expect(err).NotTo(HaveOccurred())
	return specs
}

func TestEveryReferenceIsParsed(t *testing.T) {
	specs := examples(t, "references/*")
	NewWithT(t).Expect(len(specs)).To(BeNumerically(">=", 108))
	for _, spec := range specs {
		t.Run(filepath.Base(filepath.Dir(spec)), func(t *testing.T) {
			g := NewWithT(t)
			src, err := os.ReadFile(spec)
			g.Expect(err).NotTo(HaveOccurred())
			f, err := File(spec, src)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(words(g, format(f))).To(Equal(words(g, string(src))))
		})
	}
}

// Some examples have their tree beside them, as FizzBee's own parser made it: ours is the same. Those trees are older than
// the expressions that stand beside their texts.
func TestTreesAreThoseOfFizzBee(t *testing.T) {
	compared := 0
	for _, spec := range append(examples(t, "tutorials/*"), examples(t, "comparisons/*")...) {
		tree, err := os.ReadFile(strings.TrimSuffix(spec, ".fizz") + ".json")
		if err != nil {
			continue
		}
		g := NewWithT(t)
		src, err := os.ReadFile(spec)
		g.Expect(err).NotTo(HaveOccurred())
		ours, err := File(spec, src)
		if err != nil {
			g.Expect(err).To(MatchError(ContainSubstring("which FizzBee has given up")))
			continue
		}
		theirs := &ast.File{}
		g.Expect(protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(tree, theirs)).To(Succeed())
		ours, theirs = bare(ours), bare(theirs)
		for _, f := range []*ast.File{ours, theirs} {
			f.FrontMatter = nil
			dropExprs(f.ProtoReflect())
		}
		g.Expect(proto.Equal(ours, theirs)).To(BeTrue(), "%s\nours   %v\ntheirs %v", spec, ours, theirs)
		compared++
	}
	NewWithT(t).Expect(compared).To(BeNumerically(">=", 9))
}

func dropExprs(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() != nil && fd.Message().Name() == "Expr":
			m.Clear(fd)
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				dropExprs(v.List().Get(i).Message())
			}
		case fd.Message() != nil:
			dropExprs(v.Message())
		}
		return true
	})
}
