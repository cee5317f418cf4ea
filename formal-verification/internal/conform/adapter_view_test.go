package conform

// Plants faults into coord/view's table, and checks that the comparison with view.fizz finds them.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// settled are rows about what the spec has none of: the settings, what comes too early or late, and what is stale.
var settled = map[string]bool{"Open": true, "Configure": true}

// plant deletes each row of the client's table that does something and negates its guard, and has the model go wrong.
func (a viewClient) plant(t *testing.T, g *graph.Graph) {
	_, err := a.Compare(g)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	whole := view.Table
	defer func() { view.Table = whole }()
	a.next = func(s view.State, e view.Event) view.State { // the server goes on as before
		next, _, _ := whole.Next(s, e)
		return next
	}
	planted := 0
	expect := func(what string, a viewClient) {
		_, err := a.Compare(g)
		gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}), what+" is not seen")
		planted++
	}
	row := func(r machine.Row[view.State, view.Event, view.Effect], what string, faulty machine.Table[view.State, view.Event, view.Effect]) {
		view.Table = faulty
		expect(r.From+" + "+r.Event+", "+r.Action+": "+what, a)
		view.Table = whole
	}
	for i, r := range whole {
		if r.Why != "" || settled[r.Action] || r.From == "Closed" {
			continue
		}
		row(r, "deleted", whole.Mutate(i, nil))
		if r.Guard != "" {
			row(r, "guard negated", whole.Negate(i))
		}
	}
	for what, hear := range map[string]func(view.Model, view.Told, view.Seq) view.Model{
		"an answer is ignored": func(m view.Model, e view.Told, _ view.Seq) view.Model { return m.Hear(e, 0) },
		"a result is ignored": func(m view.Model, e view.Told, seq view.Seq) view.Model {
			m.Confirmed = view.Next(m.Confirmed, e)
			return m.Drop(seq)
		},
		"every input is answered": func(m view.Model, e view.Told, seq view.Seq) view.Model { return m.Hear(e, seq).Drop(1) },
		"what is confirmed is kept": func(m view.Model, e view.Told, seq view.Seq) view.Model {
			was := m.Confirmed
			m = m.Hear(e, seq)
			m.Confirmed = was
			return m
		},
	} {
		spoilt := a
		spoilt.hear = hear
		expect(what, spoilt)
	}
	spoilt := a
	spoilt.predicted = func(m view.Model) view.State { return m.Confirmed }
	expect("nothing is predicted", spoilt)
	t.Logf("%d faults planted, all seen", planted)
}
