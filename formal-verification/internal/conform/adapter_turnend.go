package conform

// The adapter of turnend.fizz: compares it with the table of internal/coord/turnend.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
)

// turnendTurns is TURNS of specs/turnend.fizz.
const turnendTurns = 3

func turnendMachine() Comparer {
	m := watched("turnend", turnend.Table, turnend.Monitor, turnend.State(turnend.Final{}), turnend.Values, turnendEvents,
		func(g turnend.Seen) map[string]any {
			return map[string]any{"seen": map[string]any{"last": g.Last, "loose": g.Loose, "next": g.Next, "over": g.Over}}
		})
	m.Ghosts = []string{"settled", "joined"}
	return m
}

// turnendEvents returns every event about each turn up to the newest one, and about one more.
func turnendEvents(_ turnend.State, g turnend.Seen) []Labelled[turnend.Event] {
	o := offer[turnend.Event]{{"Fixed", turnend.Fixed{}}}
	for t := machine.Turn(1); t <= min(g.Last+1, turnendTurns); t++ {
		if t > g.Last || t == g.Next {
			o.add(turnend.Opened{Turn: t}, "Opened t=%d", t)
			o.add(turnend.Ended{Turn: t}, "Ended t=%d", t)
		}
		o.add(turnend.Dropped{Turn: t}, "Dropped t=%d", t)
		o.add(turnend.Worded{Turn: t}, "Worded t=%d joins=false", t)
		o.add(turnend.Worded{Turn: t, Joins: true}, "Worded t=%d joins=true", t)
		o.add(turnend.Expired{Turn: t}, "Expired t=%d", t)
	}
	return o
}
