// Package examples builds and runs the examples: each folder is one program
// that shows one idea.
package examples

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"
)

func build(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./"+name).CombinedOutput()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	return program
}

// What coord-only prints is in testdata; run the test with -rewrite after the
// machines have changed, and read the difference.
func TestCoordOnly(t *testing.T) {
	program := build(t, "coord-only")
	datadriven.RunTest(t, "testdata/coord-only.txt", func(t *testing.T, d *datadriven.TestData) string {
		out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), string(out))
		return string(out)
	})
}

func TestCoordOnlyImportsOnlyCoord(t *testing.T) {
	g := gomega.NewWithT(t)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./coord-only").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	const module = "github.com/antiphon-rt/antiphon/"
	for path := range strings.FieldsSeq(string(out)) {
		within := strings.HasPrefix(path, module+"coord/") || path == module+"examples/coord-only"
		outside := !strings.Contains(strings.Split(path, "/")[0], ".") // the standard library
		g.Expect(within || outside).To(gomega.BeTrue(), path)
	}
}
