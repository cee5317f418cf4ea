package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

// TestCompareMissing writes the list of a run and compares later runs with it.
func TestCompareMissing(t *testing.T) {
	run := func(sessions ...map[string][]string) Report {
		r := Report{Specs: []SpecReport{{Name: "turn", Missing: map[string][]string{"turn Idle": {"Clear"}}}}}
		for i, m := range sessions {
			r.Specs = append(r.Specs, SpecReport{Name: []string{"session", "session_end"}[i], Missing: m})
		}
		return r
	}
	idle := map[string][]string{"turn Idle": {"Clear", "Silence", "Onset agent_audible=true"}}
	all := map[string][]string{"turn Idle": {"never"}}
	file := filepath.Join(t.TempDir(), "never_offered.txt")
	g := gomega.NewWithT(t)
	g.Expect(run(idle, all).RewriteMissing(file)).To(gomega.Succeed())
	text, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.HaveSuffix(`
session
  turn Idle: Clear, Silence, Onset agent_audible=true

session_end
  turn Idle: never

turn
  turn Idle: Clear
`))
	for _, c := range []struct {
		name string
		run  Report
		all  bool
		says string
	}{
		{"the same", run(idle, all), true, ""},
		{"one spec", run(), false, ""},
		{"a spec is gone", run(idle), true, "no such spec"},
		{"less is offered", run(map[string][]string{"turn Idle": {"Clear"}}, all), true, "+  turn Idle: Clear"},
		{"more is offered", run(map[string][]string{}, all), true, "-  turn Idle: Clear, Silence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c.run.CompareMissing(file, c.all)
			if c.says == "" {
				g.Expect(c.run.Problems).To(gomega.BeEmpty())
				return
			}
			g.Expect(c.run.Problems).To(gomega.ContainElement(gomega.ContainSubstring(c.says)))
		})
	}
}
