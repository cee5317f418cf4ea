package gate

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// TestNeedless: fairness that a property needs is kept, and fairness that no property needs is named.
func TestNeedless(t *testing.T) {
	g := gomega.NewWithT(t)
	find := func(text string, asks ...Ask) map[string]graph.Fairness {
		f := mustParse(g, text)
		r, err := check.Spec(t.Context(), f, check.Options{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(r.Verdict).To(gomega.Equal(check.Passed))
		return needless(r.Graph, liveness(r, asks, constants(f)))
	}
	g.Expect(find(lamp)).To(gomega.BeEmpty(), "GoesOut needs Off")
	both := replaceOnce(g, lamp, "atomic action On:", "atomic fair action On:")
	g.Expect(find(both)).To(gomega.Equal(map[string]graph.Fairness{"On": graph.Unfair}))
	asked := Ask{Kind: askResponds, Name: "ComesOn", When: "times == 0", Then: "on"}
	g.Expect(find(both, asked)).To(gomega.BeEmpty(), "the question needs On")
	strong := replaceOnce(g, lamp, "atomic fair action Off:", "atomic fair<strong> action Off:")
	g.Expect(find(strong)).To(gomega.Equal(map[string]graph.Fairness{"Off": graph.Weak}))
}

// TestNeedlessIsRed: the gate refuses fairness that no property needs.
func TestNeedlessIsRed(t *testing.T) {
	g := gomega.NewWithT(t)
	both := replaceOnce(g, lamp, "atomic action On:", "atomic fair action On:")
	expectRed(t, newGate(t, lampFiles(both)).Run(t.Context()), "the action On promises more fairness than any property needs")
}
