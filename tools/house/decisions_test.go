package house

// The index of the decisions.

import (
	"path"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestTheIndexHasEachDecision: each decision has one row in the index, with its number and its status, and each number one decision.
func TestTheIndexHasEachDecision(t *testing.T) {
	g := gomega.NewWithT(t)
	index := string(read(t, "docs/decisions/README.md"))
	numbers := map[string]string{}
	for _, name := range tracked(t, "docs/decisions/*.md") {
		file := path.Base(name)
		if file == "README.md" {
			continue
		}
		number, _, _ := strings.Cut(file, "-")
		g.Expect(numbers).NotTo(gomega.HaveKey(number), "%s and %s have one number", file, numbers[number])
		numbers[number] = file
		g.Expect(string(read(t, name))).To(gomega.HavePrefix("# "+number), name)
		g.Expect(strings.Count(index, "| ["+number+"]("+file+") | ")).To(gomega.Equal(1), "the row of %s in docs/decisions/README.md", file)
	}
}
