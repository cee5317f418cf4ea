package parse_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// FizzBee's own examples, read where the module lies.
func references(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/fizzbee-io/fizzbee").Output()
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	specs, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "examples", "references", "*", "*.fizz"))
	g.Expect(err).NotTo(HaveOccurred())
	return specs
}

func TestEveryReferenceIsParsed(t *testing.T) {
	specs := references(t)
	NewWithT(t).Expect(len(specs)).To(BeNumerically(">=", 108))
	for _, spec := range specs {
		t.Run(filepath.Base(filepath.Dir(spec)), func(t *testing.T) {
			g := NewWithT(t)
			src, err := os.ReadFile(spec)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = parse.File(spec, src)
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}
