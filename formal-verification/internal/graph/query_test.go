package graph_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

func doors() *graph.Graph {
	return &graph.Graph{
		Init: []int{0},
		Nodes: []graph.Node{
			{Vars: map[string]string{"door": `"shut"`, "keys": `[1,2]`, "by": `{"name":"Ann"}`, "locked": "false"}},
			{Vars: map[string]string{"door": `"open"`, "keys": `[1]`, "by": `null`, "locked": "false"}},
		},
		Edges: []graph.Edge{
			{From: 0, To: 1, Action: "Open", Choices: []graph.Choice{{Var: "key", Value: "1"}}},
			{From: 1, To: 1, Action: "Wave"},
		},
	}
}

func TestWhere(t *testing.T) {
	g := NewWithT(t)
	for expr, want := range map[string][]bool{
		`door == "shut"`:                               {true, false},
		`len(keys) > 1 and not locked`:                 {true, false},
		`by == None`:                                   {false, true},
		`by and by["name"] == "Ann" or 1 in keys`:      {true, true},
		`any([k > 1 for k in keys]) # with a remark`:   {true, false},
		`set(keys) == set([2, 1]) and type(by) != "x"`: {true, false},
	} {
		got, err := doors().Where(expr)
		g.Expect(err).NotTo(HaveOccurred(), expr)
		g.Expect(got).To(Equal(want), expr)
	}
	for expr, want := range map[string]string{
		`dor == "shut"`:  "undefined: dor",
		`door`:           "should be True or False",
		`door ==`:        "read the expression",
		`keys[9] == 1`:   "out of range",
		"True\nx = 1":    "one line",
		`True); x = (1`:  "read the expression",
		`keys.append(3)`: "frozen",
		`len(range(10000000) and [x for x in range(10000000)]) > 0`: "too many steps",
	} {
		_, err := doors().Where(expr)
		g.Expect(err).To(MatchError(ContainSubstring(want)), expr)
	}
}

func TestReachableAndEnabled(t *testing.T) {
	g := NewWithT(t)
	d := doors()
	way := d.PathTo(in(1))
	g.Expect(way).To(Equal(&graph.Path{Start: 0, Edges: []int{0}}))
	g.Expect(graph.Print(d.Run(way))).To(Equal(`  0  Init  [by = {"name":"Ann"}, door = "shut", keys = [1,2], locked = false]
  1  Open key=1  [by: {"name":"Ann"} -> null, door: "shut" -> "open", keys: [1,2] -> [1]]
`))
	g.Expect(d.PathTo(in(2))).To(BeNil())
	g.Expect(d.Enabled(0, "Open")).To(BeTrue())
	g.Expect(d.Enabled(0, "Open key=1")).To(BeTrue())
	g.Expect(d.Enabled(0, "Open key=2")).To(BeFalse())
	g.Expect(d.NotEnabled("Open", in(0))).To(BeNil())
	g.Expect(d.NotEnabled("Open", in(0, 1))).To(Equal(&graph.Path{Start: 0, Edges: []int{0}}))
}
