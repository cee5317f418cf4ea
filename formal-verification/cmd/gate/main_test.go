package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

func TestMain(m *testing.M) {
	check.Main()
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	specs := "../../specs"
	empty := t.TempDir()
	g := gomega.NewWithT(t)
	g.Expect(os.WriteFile(filepath.Join(empty, "golden.txt"), []byte("spec"), 0o600)).To(gomega.Succeed())
	for _, c := range []struct {
		name string
		args []string
		err  string
		said string
	}{
		{"one spec", []string{"-specs", specs, "synthesis"}, "", "green"},
		{"a name that is no spec's", []string{"-specs", specs, "synthesys"}, "red", "synthesys: no such spec"},
		{"no specs", []string{"-specs", empty}, "red", "no specs in " + empty},
		{"no figures", []string{"-specs", t.TempDir()}, "read the figures that are expected", ""},
		{"figures of some", []string{"-specs", specs, "-rewrite", "synthesis"}, "-rewrite wants all specs", ""},
		{"a flag that there is not", []string{"-skip"}, "flag provided but not defined", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var out strings.Builder
			err := run(t.Context(), c.args, &out)
			if c.err == "" {
				g.Expect(err).NotTo(gomega.HaveOccurred(), out.String())
			} else {
				g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.err)))
			}
			g.Expect(out.String()).To(gomega.ContainSubstring(c.said))
		})
	}
}
