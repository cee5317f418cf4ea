package check_test

// Liveness does not depend on the order of the actions in a specification.

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	ast "fizz/proto"
	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// TestLivenessIsFoundInEveryOrder: the order of a spec's actions means nothing, but decides what
// FizzBee's own check says about retry.fizz.
func TestLivenessIsFoundInEveryOrder(t *testing.T) {
	g := NewWithT(t)
	const path = "testdata/retry.fizz"
	src, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	f, err := parse.File(path, src)
	g.Expect(err).NotTo(HaveOccurred())

	first, actions := f.Actions[:1], f.Actions[1:]
	live := map[string]int{}
	for order := range permutations(actions) {
		f.Actions = append(first[:1:1], order...)
		r, err := check.Spec(t.Context(), f, check.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Verdict).To(Equal(check.Failed), names(order))
		g.Expect(r.Assertion).To(Equal("Sends"))
		g.Expect(graph.Print(r.Trace)).To(Equal(`  0  Init  [state = "idle"]
then, for ever:
  1  Wait  [state: "idle" -> "waiting"]
  2  Retry  [state: "waiting" -> "idle"]
`), names(order))
		live[theySay(t, f)]++
	}
	g.Expect(live).To(Equal(map[string]int{"true": 12, "false": 12}), "half of all orders hide the loop from FizzBee")
}

// theySay is FizzBee's own word on whether a spec is live.
func theySay(t *testing.T, f *ast.File) string {
	t.Helper()
	text, err := proto.Marshal(f)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), theirsMark+"=1")
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(out)
}

// permutations are all orders of a list.
func permutations[T any](list []T) func(yield func([]T) bool) {
	var place func(done, rest []T, yield func([]T) bool) bool
	place = func(done, rest []T, yield func([]T) bool) bool {
		if len(rest) == 0 {
			return yield(done)
		}
		for i := range rest {
			left := append(rest[:i:i], rest[i+1:]...)
			if !place(append(done[:len(done):len(done)], rest[i]), left, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func([]T) bool) { place(nil, list, yield) }
}

func names(actions []*ast.Action) string {
	var out []string
	for _, a := range actions {
		out = append(out, a.GetName())
	}
	return strings.Join(out, " ")
}
