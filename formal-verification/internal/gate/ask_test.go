package gate

import (
	"strconv"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

func TestAsks(t *testing.T) {
	g := gomega.NewWithT(t)
	list, err := Asks("# a comment\n# asked once\n#ask reachable A: x == 1\n  # ask always-enabled B: Go when x > 0\n# ask responds C: x leads to y\n")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(list).To(gomega.Equal([]Ask{
		{Line: 3, Kind: "reachable", Name: "A", When: "x == 1"},
		{Line: 4, Kind: "always-enabled", Name: "B", Action: "Go", When: "x > 0"},
		{Line: 5, Kind: "responds", Name: "C", When: "x", Then: "y"},
	}))
	for text, said := range map[string]string{
		"# ask":                                      "expected `# ask KIND NAME: QUESTION`",
		"# ask reachable: x":                         "expected `# ask KIND NAME: QUESTION`",
		"# ask reachable A":                          "expected `# ask KIND NAME: QUESTION`",
		"# ask reachabel A: x":                       "ask reachabel: expected reachable, always-enabled or responds",
		"# ask responds A: x":                        "expected `ACTION when EXPR` or `EXPR leads to EXPR`",
		"# ask always-enabled A: x":                  "expected `ACTION when EXPR` or `EXPR leads to EXPR`",
		"# ask reachable A: x\n# ask reachable A: y": "line 2: A is asked twice",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Asks(text)
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(said)))
		})
	}
}

// ring counts from 0 to 2 and then stays or begins again; Step is fair, Again is not.
func ring() *graph.Graph {
	g := &graph.Graph{Init: []int{0}}
	for n := range 3 {
		g.Nodes = append(g.Nodes, graph.Node{Vars: map[string]string{
			"n": strconv.Itoa(n), "s": `"` + strconv.Itoa(n) + `"`, "l": "[" + strconv.Itoa(n) + "]", "b": strconv.FormatBool(n > 0),
		}})
	}
	g.Edges = []graph.Edge{
		{From: 0, To: 1, Action: "Step", Fair: graph.Weak},
		{From: 1, To: 2, Action: "Step", Fair: graph.Weak},
		{From: 2, To: 0, Action: "Again"},
	}
	return g
}

func TestDecide(t *testing.T) {
	const defined = "TOP = 2\ndef top(n):\n    return n == TOP\n"
	for _, c := range []struct{ text, against, err string }{
		{"reachable A: n == TOP", "", ""},
		{"reachable A: top(n) and s == '2' and l == [2] and b", "", ""},
		{"reachable A: n == 3", "no state is so", ""},
		{"always-enabled A: Step when n < TOP", "", ""},
		{"always-enabled A: Again when n > 0", "Again cannot happen after", ""},
		{"always-enabled A: Again when n > 2", "no state is so", ""},
		{"responds A: n == 0 leads to top(n)", "", ""},
		{"responds A: n == 2 leads to n == 0", "it need not come to that", ""},
		{"responds A: n == 3 leads to n == 0", "no state is so", ""},
		{"reachable A: n", "", "is int, expected True or False"},
		{"reachable A: nobody == 1", "", "undefined: nobody"},
		{"reachable A: (", "", "A"},
		{"responds A: n == 0 leads to nobody", "", "undefined: nobody"},
		{"reachable A: [x for x in range(100000000)] == []", "", "too many steps"},
	} {
		t.Run(c.text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			a, err := ask(c.text)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			against, err := a.decide(ring(), defined)
			if c.err != "" {
				g.Expect(err).To(gomega.HaveOccurred())
				return
			}
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(against).To(gomega.HavePrefix(c.against))
			g.Expect(against == "").To(gomega.Equal(c.against == ""))
		})
	}
}
