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

const recorded = "../../internal/trace/testdata/calls.jsonl"

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		wants string
	}{
		{"the tables alone", []string{"-specs", "", recorded}, "traces=1 sessions=2 steps=115 ignored=23 specified=0 beyond=0 composed=0 alone=0 composed_beyond=0 views=43\n"},
		{"the specs, too", []string{"-specs", "../../specs", recorded}, "traces=1 sessions=2 steps=115 ignored=23 specified=138 beyond=0 composed=38 alone=57 composed_beyond=0 views=43\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var out strings.Builder
			g.Expect(run(t.Context(), c.args, &out)).To(gomega.Succeed())
			g.Expect(out.String()).To(gomega.Equal(c.wants))
		})
	}
	torn := filepath.Join(t.TempDir(), "torn.jsonl")
	gomega.NewWithT(t).Expect(os.WriteFile(torn, []byte(`{"t":`), 0o600)).To(gomega.Succeed())
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing to check", nil, "there is no trace to check"},
		{"a file that is not there", []string{"-specs", "", "none.jsonl"}, "none.jsonl"},
		{"a torn line", []string{"-specs", "", torn}, "torn.jsonl:1: it is no line of a trace"},
		{"no specs", []string{"-specs", t.TempDir(), recorded}, "read a spec"},
		{"an unknown flag", []string{"-loose"}, "loose"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := run(t.Context(), c.args, &strings.Builder{})
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.want)))
		})
	}
}
