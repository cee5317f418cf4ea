package parse

// Tests of the syntax trees of specifications.

import (
	"testing"

	ast "fizz/proto"
	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

func says(want string) *ast.File {
	f := &ast.File{}
	if err := prototext.Unmarshal([]byte(want), f); err != nil {
		panic(err)
	}
	return f
}

// trees are specs and what the checker gets of them, as prototext.
var trees = []struct{ name, src, want string }{
	{
		"the options keep their lines", "# a door\n---\noptions:\n  max_actions: 5\n---\nN = 2\n",
		`front_matter { yaml: "\n\noptions:\n  max_actions: 5\n" } stmts { py_stmt { code: "N = 2" } }`,
	},
	{
		"Init comes first, is strongly fair and atomic",
		"action Go:\n    pass\naction Init:\n    x = 1\n",
		`front_matter {}
		actions { name: "Init" flow: FLOW_ATOMIC fairness { level: FAIRNESS_LEVEL_STRONG }
		  block { flow: FLOW_ATOMIC stmts { py_stmt { code: "x = 1" } } } }
		actions { name: "Go" flow: FLOW_SERIAL fairness { level: FAIRNESS_LEVEL_UNFAIR }
		  block { flow: FLOW_SERIAL stmts { py_stmt { code: "pass" } } } }`,
	},
	{
		"a block alone in an action takes its place",
		"atomic fair<strong> action Go:\n    serial:\n        f(1, a=2)\n        r.f()\n        x = r.f([1,\n            2])\n",
		`front_matter {}
		actions { name: "Go" flow: FLOW_ATOMIC fairness { level: FAIRNESS_LEVEL_STRONG }
		  block { flow: FLOW_SERIAL
		    stmts { call_stmt { name: "f" args { py_expr: "1" expr { py_expr: "1" } } args { py_expr: "a=2" expr { py_expr: "a=2" } } } }
		    stmts { call_stmt { receiver: "r" name: "f" } }
		    stmts { call_stmt { vars: "x" receiver: "r" name: "f" args { py_expr: "[1,\n            2]" expr { py_expr: "[1,\n            2]" } } } } } }`,
	},
	{
		"choices",
		"fair action Go:\n    any x in xs: y = x\n    a = fair oneof xs if a in ys else zs if a > 1\n    b = any xs : b\n",
		`front_matter {}
		actions { name: "Go" flow: FLOW_SERIAL fairness { level: FAIRNESS_LEVEL_WEAK }
		  block { flow: FLOW_SERIAL
		    stmts { any_stmt { loop_vars: "x" py_expr: "xs" iter_expr { py_expr: "xs" } block { stmts { py_stmt { code: "y = x" } } } } }
		    stmts { any_stmt { loop_vars: "a" fairness { level: FAIRNESS_LEVEL_WEAK } py_expr: "xs if a in ys else zs" iter_expr { py_expr: "xs if a in ys else zs" }
		      condition: "a > 1" condition_expr { py_expr: "a > 1" } } }
		    stmts { any_stmt { loop_vars: "b" py_expr: "xs" iter_expr { py_expr: "xs" } condition: "b" condition_expr { py_expr: "b" } } } } }`,
	},
	{
		"loops, branches and labels",
		"oneof func f(a, b = 1):\n    `here`\n    parallel for i in range(3):\n        if i: break\n        elif not i: continue\n        else: return i, a\n    atomic while a:\n        require a\n",
		`front_matter {}
		functions { name: "f" flow: FLOW_ONEOF params { name: "a" } params { name: "b" default_py_expr: "1" default_expr { py_expr: "1" } }
		  block { flow: FLOW_ONEOF
		    stmts { label: "here" for_stmt { flow: FLOW_PARALLEL loop_vars: "i" py_expr: "range(3)" iter_expr { py_expr: "range(3)" }
		      block { stmts { if_stmt {
		        branches { condition: "i" condition_expr { py_expr: "i" } block { stmts { break_stmt {} } } }
		        branches { condition: "not i" condition_expr { py_expr: "not i" } block { stmts { continue_stmt {} } } }
		        branches { condition: "True" condition_expr { py_expr: "True" } block { stmts { return_stmt { py_expr: "i, a" expr { py_expr: "i, a" } } } } } } } } } }
		    stmts { while_stmt { flow: FLOW_ATOMIC py_expr: "a" iter_expr { py_expr: "a" }
		      block { stmts { require_stmt { condition: "a" condition_expr { py_expr: "a" } } } } } } } }`,
	},
	{
		"assertions",
		"always eventually assertion A:\n    '''why'''\n    return x\ntransition assertion T(before, after): return before.x\n",
		`front_matter {}
		invariants { name: "A" temporal_operators: ["always", "eventually"] block { flow: FLOW_ATOMIC stmts { return_stmt { py_expr: "x" expr { py_expr: "x" } } } } }
		invariants { name: "T" temporal_operators: "transition" params { name: "before" } params { name: "after" }
		  block { flow: FLOW_ATOMIC stmts { return_stmt { py_expr: "before.x" expr { py_expr: "before.x" } } } } }`,
	},
	{
		"roles",
		"@state(durable=['a'])\nsymmetric role R:\n    \"\"\"why\"\"\"\n    action Init:\n        self.a = 1\n    func f():\n        self.a += 1\n    def g(x, *y):\n        for i in y:\n            x += i\n        return x\n",
		`front_matter {}
		roles { name: "R" modifiers: "symmetric" decorators { name: "state" args { py_expr: "durable=['a']" expr { py_expr: "durable=['a']" } } }
		  actions { name: "Init" flow: FLOW_ATOMIC fairness { level: FAIRNESS_LEVEL_STRONG } block { flow: FLOW_ATOMIC stmts { py_stmt { code: "self.a = 1" } } } }
		  functions { name: "f" flow: FLOW_SERIAL block { flow: FLOW_SERIAL stmts { py_stmt { code: "self.a += 1" } } } }
		  stmts { py_stmt { code: "def g(x, *y):\n        for i in y:\n            x += i\n        return x" } } }`,
	},
	{
		"compositions", "compose:\n    a: f(x),\n    b: 1\nrefine:\n    _: key\n",
		`front_matter {} composition { specs { name: "a" expr { py_expr: "f(x)" } } specs { name: "b" expr { py_expr: "1" } } }
		refinements { specs { name: "_" expr { py_expr: "key" } } }`,
	},
}

func TestSpecBecomesTheCheckersTree(t *testing.T) {
	for _, tt := range trees {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			f, err := File("door.fizz", []byte(tt.src))
			g.Expect(err).NotTo(HaveOccurred())
			got, want := bare(f), says(tt.want)
			g.Expect(proto.Equal(got, want)).To(BeTrue(), "got  %v\nwant %v", got, want)
		})
	}
}

func TestPlacesAreThoseOfTheSource(t *testing.T) {
	g := NewWithT(t)
	f, err := File("dir/door.fizz", []byte("---\noptions: {}\n---\n\natomic action Go:\r\n    x = \"ä\"  # why\n    if x == \"é\" and y:\n        pass\n\nalways assertion A:\n    return '''\nthree\n''' == x\n\ny = '''a\nb'''  # without a line end"))
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(f.SourceInfo.FileName).To(Equal("door.fizz"))
	g.Expect(place(f.Actions[0].SourceInfo)).To(Equal([4]int32{5, 1, 8, 12}))
	g.Expect(place(f.Actions[0].Block.Stmts[0].PyStmt.SourceInfo)).To(Equal([4]int32{6, 5, 6, 11}))
	branch := f.Actions[0].Block.Stmts[1].IfStmt.Branches[0]
	g.Expect(place(branch.ConditionExpr.SourceInfo)).To(Equal([4]int32{7, 8, 7, 21}))
	g.Expect(place(f.Stmts[0].SourceInfo)).To(Equal([4]int32{15, 1, 16, 4}))
	g.Expect(place(f.Invariants[0].Block.Stmts[0].ReturnStmt.Expr.SourceInfo)).To(Equal([4]int32{11, 12, 13, 8}))
}

func place(i *ast.SourceInfo) [4]int32 {
	return [4]int32{i.GetStart().GetLine(), i.GetStart().GetColumn(), i.GetEnd().GetLine(), i.GetEnd().GetColumn()}
}
