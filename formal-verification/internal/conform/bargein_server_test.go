package conform

// Plants faults into the server's half of a barge-in, and checks that the comparison with bargein.fizz finds them.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/session"
)

// TestServer compares the exchange with its server, and then with servers that are spoilt: in their playout's table, and in
// what the composition makes of it.
func TestServer(t *testing.T) {
	g := explored(t, "bargein")
	faithful := bargeinExchange{table: bargein.Table, next: session.Next}
	figures, err := faithful.Compare(g)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Logf("%+v", figures)
	differs := func(what string, next nextFunc) {
		b := bargeinExchange{table: bargein.Table, nodes: faithful.nodes, next: next}
		_, err := b.Compare(g)
		gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}), what+" is not seen")
	}
	for name, spoil := range exchangeSpoils {
		differs(name, func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
			return spoil(s, at, e)
		})
	}
	whole := playout.Table
	defer func() { playout.Table = whole }()
	planted := 0
	for i, row := range whole {
		if !faithful.served[row.Action] || row.Why != "" || row.From == "Silent" && row.Event == "Clear" {
			continue
		}
		for what, faulty := range playoutFaults(whole, i) {
			if row.From == "Playing" && row.Action == "Miss" && what == "held back" {
				continue // only the number of the segment is another, which playout.fizz has and bargein.fizz has not
			}
			playout.Table = faulty
			differs(row.From+" + "+row.Event+", "+row.Action+" "+what, session.Next)
			planted++
		}
	}
	t.Logf("%d faults planted, all seen", planted)
}

type playoutTable = machine.Table[playout.State, playout.Event, playout.Effect]

// playoutFaults are tables with one row wrong.
func playoutFaults(whole playoutTable, row int) map[string]playoutTable {
	return map[string]playoutTable{
		"deleted": whole.Mutate(row, nil),
		"held back": whole.Mutate(row, func(from, _ playout.State, fx []playout.Effect) (playout.State, []playout.Effect) {
			return from, fx
		}),
	}
}

type spoilt func(session.State, playout.Position, session.Event) (session.State, []session.Effect, []session.Step)

// exchangeSpoils are compositions with one thing wrong.
var exchangeSpoils = map[string]spoilt{
	"a client is taken for one that does not report": func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		was := s.Config.Reports
		s.Config.Reports = false
		next, effects, steps := session.Next(s, at, e)
		next.Config.Reports = was
		return next, effects, steps
	},
	"it is sent further than it is": func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		at.MS++
		return session.Next(s, at, e)
	},
	"a reply does not wait": func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		next, effects, steps := session.Next(s, at, e)
		next.Queued = session.Queue{}
		return next, effects, steps
	},
	"no report is awaited": func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		next, effects, steps := session.Next(s, at, e)
		if held, is := next.Playout.(playout.Held); is {
			held.Awaits = false
			next.Playout = held
		}
		return next, effects, steps
	},
}
