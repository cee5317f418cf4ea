package check_test

import (
	"context"
	"testing"

	ast "fizz/proto"

	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

// counter counts up to three, chooses its step, and asserts what Assertion says.
const counter = `{
 "sourceInfo": {"fileName": "counter.fizz"},
 "frontMatter": {"yaml": "deadlock_detection: false\noptions:\n  max_actions: 50\n  max_concurrent_actions: 1\n  crash_on_yield: false\n"},
 "actions": [
  {"name": "Init", "flow": "FLOW_ATOMIC", "block": {"flow": "FLOW_ATOMIC", "stmts": [{"pyStmt": {"code": "n = 0"}}]}},
  {"name": "Add", "flow": "FLOW_ATOMIC", "fairness": {"level": "FAIRNESS_LEVEL_WEAK"}, "block": {"flow": "FLOW_ATOMIC", "stmts": [
    {"anyStmt": {"loopVars": ["by"], "pyExpr": "[1, 2]", "iterExpr": {"pyExpr": "[1, 2]"}}},
    {"requireStmt": {"condition": "n + by <= 3", "conditionExpr": {"pyExpr": "n + by <= 3"}}},
    {"pyStmt": {"code": "n = n + by"}}]}}
 ],
 "invariants": [
  {"name": "A", "temporalOperators": ["always"], "block": {"flow": "FLOW_ATOMIC", "stmts": [{"returnStmt": {"pyExpr": "n < 3", "expr": {"pyExpr": "n < 3"}}}]}}
 ]
}`

func TestHand(t *testing.T) {
	g := NewWithT(t)
	f := &ast.File{}
	g.Expect(protojson.Unmarshal([]byte(counter), f)).To(Succeed())
	r, err := check.Spec(context.Background(), f, check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("%+v", r)
	f.Invariants = nil
	r, err = check.Spec(context.Background(), f, check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("%+v %+v", r, r.Graph)
}
