package conform

// Plants faults into the contract of a run, and checks that the comparison with run.fizz finds them.

import (
	"os"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// TestContract compares the run's contract with its spec, as it is and with each fault.
// contractOf reads the contract of internal/coord/run.
func contractOf(t *testing.T) contract {
	t.Helper()
	g := gomega.NewWithT(t)
	here, err := os.Getwd()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c, err := readContract(here)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return c
}

func TestContract(t *testing.T) {
	g := gomega.NewWithT(t)
	spec := explored(t, "run")
	triggers := runMachine().(withContract).triggers()
	g.Expect(contractOf(t).compare(spec, triggers)).To(gomega.Succeed())

	for _, c := range []struct {
		name  string
		fault func(*contract)
		want  string
	}{
		{
			"a transition is missing", func(c *contract) { c.Transitions = c.Transitions[1:] },
			"the contract's transitions: queued, turn.started -> running [conversation.state.changed] is in the spec alone",
		},
		{
			"a transition leads elsewhere", func(c *contract) { c.Transitions[1].To = "failed" },
			"the contract's transitions: queued, run.canceled -> failed [conversation.state.changed] is not in the spec",
		},
		{
			"a message is left out", func(c *contract) { c.Transitions[1].Emits = nil },
			"the contract's transitions: queued, run.canceled -> canceled [] is not in the spec",
		},
		{
			"a state is missing", func(c *contract) { c.States = c.States[:5] },
			"the contract's states: canceled begins=false ends=true is in the spec alone",
		},
		{
			"a state ends that does not", func(c *contract) { c.States[1].Terminal = true },
			"the contract's states: running begins=false ends=true is not in the spec",
		},
		{"a message has another field", func(c *contract) {
			m := c.Messages["conversation.state.changed"]
			m.Properties.Payload.Required = append([]string{"why"}, m.Properties.Payload.Required...)
			c.Messages["conversation.state.changed"] = m
		}, "TurnStarted n=1: conversation.state.changed: the payload's fields: why is not in the spec"},
		{
			"a message has no schema", func(c *contract) { delete(c.Messages, "interaction.reply.accepted") },
			"Reply i=1: the contract has no message interaction.reply.accepted",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			faulty := contractOf(t)
			c.fault(&faulty)
			err := faulty.compare(spec, triggers)
			g.Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.want)))
		})
	}
}

func TestContractThatDoesNotFit(t *testing.T) {
	spec, triggers := explored(t, "run"), runMachine().(withContract).triggers()
	t.Run("a word that the schema does not have", func(t *testing.T) {
		g := gomega.NewWithT(t)
		faulty := contractOf(t)
		word := faulty.Messages["interaction.auto_decide.timeout"].Properties.Payload.Properties
		about := word["policy"]
		about.Const = "auto"
		word["policy"] = about
		g.Expect(faulty.compare(spec, triggers)).To(gomega.MatchError(gomega.ContainSubstring("policy is auto_decide, which its schema does not allow")))
	})
	t.Run("a contract that is not there", func(t *testing.T) {
		_, err := readContract(t.TempDir())
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(os.ErrNotExist))
	})
	t.Run("a graph that is not the run's", func(t *testing.T) {
		other := &graph.Graph{Nodes: []graph.Node{{}}, Init: []int{0}, Edges: []graph.Edge{{Action: "Cancel"}}}
		gomega.NewWithT(t).Expect(contractOf(t).compare(other, triggers)).NotTo(gomega.Succeed())
	})
}
