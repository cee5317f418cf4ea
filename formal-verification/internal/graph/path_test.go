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

// An action that waits in its middle is told by where it waits, and a role by its fields, not by all that the checker keeps.
func TestWhatTheCheckerKeepsIsToldInShort(t *testing.T) {
	g := NewWithT(t)
	stack := func(pc, vars, scope string) string {
		return `[{"fileIndex":0,"name":"Start","pc":"Actions[1]","vars":"{}"},{"name":"start","pc":"` + pc + `","scope":` + scope + `,"vars":"` + vars + `"}]`
	}
	one, two := stack("Functions[0].Block.Stmts[0]", "{}", "1"), stack("Functions[0].Block.Stmts[1]", `{\"by\":2}`, "1")
	other := stack("Functions[0].Block.Stmts[0]", "{}", "2")
	role := func(fields string) string {
		return `{"name":"Proc","ref":0,"ref_string":"Proc#0","params":{},"fields":` + fields + `}`
	}
	for _, c := range []struct {
		change graph.Change
		text   string
	}{
		{graph.Change{Var: "thread-0", Is: one}, "thread-0 = Start > start at Functions[0].Block.Stmts[0]"},
		{
			graph.Change{Var: "thread-0", Was: one, Is: two},
			`thread-0: Start > start at Functions[0].Block.Stmts[0] -> Start > start{"by":2} at Functions[0].Block.Stmts[1]`,
		},
		{graph.Change{Var: "thread-0", Was: one}, "thread-0 is gone"},
		{graph.Change{Var: "thread-0", Was: one, Is: other}, "thread-0: " + one + " -> " + other},
		{graph.Change{Var: "Proc#0", Is: role(`{"n":0}`)}, `Proc#0 = {"n":0}`},
		{graph.Change{Var: "Proc#0", Was: role(`{"n":0}`), Is: role(`{"n":1}`)}, `Proc#0: {"n":0} -> {"n":1}`},
		{graph.Change{Var: "Proc#0", Was: "1", Is: "2"}, "Proc#0: 1 -> 2"},
		{graph.Change{Var: "thread-0", Is: "7"}, "thread-0 = 7"},
		{graph.Change{Var: "stack", Is: one}, "stack = " + one},
	} {
		g.Expect(graph.Step{Label: "Go", Changes: []graph.Change{c.change}}.String()).To(Equal("Go  [" + c.text + "]"))
	}
}
