package graph_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

func TestShortestPathForAReader(t *testing.T) {
	g := NewWithT(t)
	doors := &graph.Graph{
		Init: []int{0},
		Nodes: []graph.Node{
			{Vars: map[string]string{"door": `"shut"`, "keys": `[1,2]`}},
			{Vars: map[string]string{"door": `"open"`, "keys": `[1,2]`}, Inner: map[string]string{"Ann#0": `{"in":true}`}},
			{Vars: map[string]string{"door": `"gone"`}},
		},
		Edges: []graph.Edge{
			{From: 0, To: 0, Action: "Knock"},
			{From: 0, To: 1, Action: "Open", Choices: []graph.Choice{{Var: "key", Value: "1"}, {Var: "hand", Value: `"left"`}}},
			{From: 1, To: 0, Action: "Shut"},
			{From: 1, To: 2, Action: "Break"},
		},
	}
	way := doors.PathTo(in(2))
	g.Expect(way).To(Equal(&graph.Path{Start: 0, Edges: []int{1, 3}}))
	g.Expect(graph.Print(doors.Run(way))).To(Equal(`  0  Init  [door = "shut", keys = [1,2]]
  1  Open key=1 hand="left"  [Ann#0 = {"in":true}, door: "shut" -> "open"]
  2  Break  [Ann#0 is gone, door: "open" -> "gone", keys is gone]
`))
	g.Expect(doors.PathTo(in(0))).To(Equal(&graph.Path{Start: 0}))
	g.Expect(doors.PathTo(in(3))).To(BeNil())
	g.Expect(doors.Run(nil)).To(BeNil())
}
