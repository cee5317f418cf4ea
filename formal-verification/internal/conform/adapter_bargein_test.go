package conform

// Plants faults into coord/bargein's table, and checks that the comparison with bargein.fizz finds them.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// plant deletes each row that does something, negates its guard, and takes each of its effects away.
func (b *bargeinExchange) plant(t *testing.T, g *graph.Graph) {
	_, err := b.Compare(g)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	planted := 0
	expect := func(row machine.Row[bargein.State, bargein.Event, bargein.Effect], what string, faulty bargeinTable) {
		_, err := (&bargeinExchange{table: faulty, nodes: b.nodes, next: b.next}).Compare(g)
		gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}),
			"%s + %s, %s: %s is not seen", row.From, row.Event, row.Action, what)
		planted++
	}
	for i, row := range b.table {
		if row.Why != "" {
			continue // the exchange meets what may come, not every pair: package bargein's own tests do
		}
		expect(row, "deleted", b.table.Mutate(i, nil))
		if row.Guard != "" {
			expect(row, "guard negated", b.table.Negate(i))
		}
		for k := range b.met[i] - 1 {
			for _, f := range effectFaults[bargein.State, bargein.Effect](k, 1) {
				if seenByTheDriver(row.Action, f.what) {
					expect(row, f.what, b.table.Mutate(i, f.change))
				}
			}
		}
	}
	t.Logf("%d faults planted, all seen", planted)
}

// seenByTheDriver says whether a fault is one that the exchange can see: it knows no order between what a timer, a message
// and the level are told, but for those that would be heard, and a response that was heard to its end is interrupted by a plain
// server only, which hears of nothing. Package bargein's own graph sees the others.
func seenByTheDriver(action, what string) bool {
	switch {
	case action == "ConfirmSilent" && strings.HasPrefix(what, "effect 2"):
		return false
	case what == "effect 2 swapped":
		return action != "Confirm"
	}
	return strings.HasSuffix(what, "dropped") || strings.HasSuffix(what, "doubled")
}
