package coordtest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// golden compares got with testdata/name, or writes it there under -rewrite, the
// flag that package datadriven defines for its own files.
func golden(t *testing.T, name, got string) {
	t.Helper()
	g := gomega.NewWithT(t)
	path := filepath.Join("testdata", name)
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		g.Expect(os.MkdirAll("testdata", 0o755)).To(gomega.Succeed())
		g.Expect(os.WriteFile(path, []byte(got), 0o644)).To(gomega.Succeed())
		return
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "write it with: go test -run '^"+t.Name()+"$' . -args -rewrite")
	g.Expect(got).To(gomega.Equal(string(want)), path+" differs; if the change is meant: go test . -args -rewrite")
}

// Diagram compares the table's Mermaid drawing with testdata/diagram.txt.
func Diagram[S, E machine.Named, F any](t *testing.T, table machine.Table[S, E, F], first S) {
	t.Helper()
	golden(t, "diagram.txt", table.Mermaid(first))
}
