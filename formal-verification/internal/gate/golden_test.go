package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func figures() map[string]Figures {
	return map[string]Figures{
		"lamp":  {Verdict: "PASSED", Nodes: 9, States: 7, Edges: 6, Assertions: 2, Asks: 3, Killed: 2, Mutants: 2, Pairs: 7, Compared: 6, Refused: 8},
		"torch": {Verdict: "FAILED:Dark", Nodes: 1, States: 1},
	}
}

const figuresText = `spec   verdict      nodes  states  edges  assertions  asks  killed  mutants  pairs  compared  refused
lamp   PASSED       9      7       6      2           3     2       2        7      6         8
torch  FAILED:Dark  1      1       0      0           0     0       0        0      0         0
`

func TestGolden(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(golden(figures())).To(gomega.Equal(figuresText))
	read, err := readGolden(figuresText)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(read).To(gomega.Equal(figures()))
	header, _, _ := strings.Cut(figuresText, "\n")
	for text, said := range map[string]string{
		"":                           "line 1: expected the columns",
		"spec verdict\n":             "line 1: expected the columns",
		figuresText + "x PASSED 1\n": "line 4: expected 12 columns, found 3",
		figuresText + "x PASSED 1 2 3 4 5 6 7 8 9 many\n":      "line 4: refused",
		figuresText + "torch PASSED 1 2 3 4 5 6 7 8 9 10\n":    "line 4: torch is there twice",
		"spec verdict nodes states edges\nlamp PASSED 9 7 6\n": "line 1: expected the columns",
		header + "\n" + "lamp PASSED 9 7 6 2 3 2 2 7\n":        "line 2: expected 12 columns",
	} {
		_, err := readGolden(text)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(said)), text)
	}
}

func TestCompareWithGolden(t *testing.T) {
	report := func(change func(map[string]Figures)) Report {
		found := figures()
		change(found)
		r := Report{}
		for _, name := range sorted(found) {
			f := found[name]
			f.CheckSeconds = 1.5
			r.Specs = append(r.Specs, SpecReport{Name: name, Figures: f})
		}
		return r
	}
	for name, c := range map[string]struct {
		change func(map[string]Figures)
		all    bool
		said   string
	}{
		"the same":                     {func(map[string]Figures) {}, true, ""},
		"one that is new":              {func(m map[string]Figures) { m["new"] = m["lamp"] }, true, "new: its figures are not in golden.txt"},
		"one that is gone":             {func(m map[string]Figures) { delete(m, "lamp") }, true, "lamp: golden.txt has figures of it, and there is no such spec"},
		"one that was left":            {func(m map[string]Figures) { delete(m, "lamp") }, false, ""},
		"a verdict":                    {func(m map[string]Figures) { m["torch"] = Figures{Verdict: "PASSED", Nodes: 1, States: 1} }, true, "torch: the figures are not those"},
		"a mutant less":                {func(m map[string]Figures) { f := m["lamp"]; f.Mutants, f.Killed = 1, 1; m["lamp"] = f }, true, "lamp: the figures are not those"},
		"a state more":                 {func(m map[string]Figures) { f := m["lamp"]; f.States++; m["lamp"] = f }, true, "lamp: the figures are not those"},
		"an edge that is not compared": {func(m map[string]Figures) { f := m["lamp"]; f.Compared--; m["lamp"] = f }, true, "lamp: the figures are not those"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := report(c.change)
			r.Compare(figuresText, c.all)
			g.Expect(r.Passed()).To(gomega.Equal(c.said == ""), "%v", r.Problems)
			g.Expect(said(r)).To(gomega.ContainSubstring(c.said))
		})
	}
	t.Run("what is red says nothing of its figures", func(t *testing.T) {
		g := gomega.NewWithT(t)
		r := report(func(map[string]Figures) {})
		r.Specs[0].Problems = []string{"it fails"}
		r.Compare(figuresText, true)
		g.Expect(r.Problems).To(gomega.BeEmpty())
		g.Expect(r.Passed()).To(gomega.BeFalse())
	})
	t.Run("no figures", func(t *testing.T) {
		r := report(func(map[string]Figures) {})
		r.Compare("", true)
		expectRed(t, r, "golden.txt: line 1")
	})
}

func TestRewrite(t *testing.T) {
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "golden.txt")
	r := Report{Specs: []SpecReport{{Name: "lamp", Figures: figures()["lamp"]}, {Name: "torch", Figures: figures()["torch"]}}}
	g.Expect(r.Rewrite(file, "", false)).To(gomega.Succeed())
	text, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.Equal(figuresText))

	r.Specs[0].Figures.States++
	g.Expect(r.Rewrite(file, figuresText, false)).To(gomega.Succeed(), "figures may grow")
	r.Specs[0].Figures.Mutants--
	r.Specs = r.Specs[:1]
	g.Expect(r.Rewrite(file, figuresText, false)).To(gomega.MatchError(gomega.ContainSubstring("lamp: mutants 2 -> 1\n  torch: gone")))
	g.Expect(r.Rewrite(file, figuresText, true)).To(gomega.Succeed(), "where it is meant")
}
