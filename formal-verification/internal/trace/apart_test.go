package trace

// Checks recorded steps of machines that belong to no session, and that no changed line of them passes.

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// servers returns what three servers on one NATS server wrote in two tests of e2e/deploy. In TestAFormerOwnerIsFenced, a call moves from one to another. In
// TestTwoServersShareRunsAndKeys, two of them share a run and a key, and the third takes the run over from the killed first two.
func servers(g *gomega.WithT) (logs [3][]string) {
	for i := range logs {
		text, err := os.ReadFile(fmt.Sprintf("testdata/server%d.jsonl", i+1))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		logs[i] = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	return logs
}

// checked checks logs one after the other.
func checked(c *Checker, logs [3][]string) error {
	for i, log := range logs {
		if err := c.Log(fmt.Sprint("server ", i+1), strings.NewReader(strings.Join(log, "\n"))); err != nil {
			return err
		}
	}
	return c.Ends()
}

func TestMachinesInTheStore(t *testing.T) {
	g := gomega.NewWithT(t)
	specs, err := Read(t.Context(), "../../specs", "journal", "run", "idempotency_unknown")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c, logs := New(specs...), servers(g)
	g.Expect(checked(c, logs)).To(gomega.Succeed())
	f := c.Figures()
	g.Expect(f.Specified).To(gomega.BeNumerically(">", 100))
	g.Expect(f.Beyond).To(gomega.BeNumerically("<", 5))
	slices.Reverse(logs[:])
	g.Expect(checked(New(specs...), logs)).To(gomega.Succeed(), "in any order of the servers")
}

// change changes the first line of a machine's action, in the log that has it.
func change(g *gomega.WithT, machine, action string, with func(object)) (logs [3][]string) {
	logs = servers(g)
	for _, log := range logs {
		for i, text := range log {
			o := object{}
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber() // the names of tries have 64 bits
			g.Expect(d.Decode(&o)).To(gomega.Succeed())
			if o["machine"] != machine || o["action"] != action {
				continue
			}
			with(o)
			changed, err := json.Marshal(o)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			log[i] = string(changed)
			return logs
		}
	}
	g.Expect(action).To(gomega.BeEmpty(), "no log has it")
	return logs
}

func TestMachinesInTheStoreMutated(t *testing.T) {
	for _, c := range []struct {
		name, machine, action string
		with                  func(object)
		want                  string
	}{
		{
			"a record that is released before it is stored", "journal", "Append",
			func(o object) { o["effects"] = append(o["effects"].([]any), valueOf("Release", object{"To": 1})) }, "its effects are",
		},
		{"a journal without its begin", "journal", "Begin", func(o object) { o["session"] = "another.1" }, "it goes on from Resting"},
		{"a journal with a revision", "journal", "Append", func(o object) { o["stored"] = 7 }, "its state is not in the store"},
		{"another state of a run", "run", "Accept", func(o object) { o["found"] = 2 }, "two owners have written after revision 2"},
		{"a run that is claimed without a write", "run", "Start", func(o object) { delete(o, "stored") }, "the store has nothing of it"},
		{"a run that is stored before it was found", "run", "Ask", func(o object) { o["stored"] = 1 }, "it is stored as revision 1, after revision 2"},
		{"a run that was stored otherwise", "run", "Start", func(o object) { o["stored"] = 3 }, "revision 3 was written as"},
		{
			"a run that another server takes over from the same entry", "run", "Succeed",
			func(o object) { o["found"] = 5 }, "two owners have written after revision 5: revisions 6 and 8",
		},
		{"a key whose first state is another one", "idempotency", "Cache", func(o object) { delete(o, "found") }, "the state at revision 0 is Locked"},
		{"two answers of a key", "idempotency", "Cache", func(o object) { o["found"] = 1 }, "two owners have written after revision 1: revisions 2 and 3"},
		{"a key without its answer", "idempotency", "GetCache", func(o object) { o["effects"] = []any{} }, "its effects are none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(checked(New(), change(g, c.machine, c.action, c.with))).To(gomega.MatchError(gomega.ContainSubstring(c.want)))
		})
	}
	t.Run("two owners of a call with one epoch", func(t *testing.T) {
		g := gomega.NewWithT(t)
		logs := servers(g)
		for i := range logs[1] {
			logs[1][i] = strings.ReplaceAll(logs[1][i], `.2","machine":"journal"`, `.1","machine":"journal"`)
		}
		g.Expect(checked(New(), logs)).To(gomega.MatchError(gomega.ContainSubstring("it has a second owner, with the same epoch")))
	})
}
