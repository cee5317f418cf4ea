package coordtest

// Benchmarks of a table: they compare the time of Next with that of a switch statement written by hand.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Case is one transition to be timed. Switch does the same without a table.
type Case[S, E, F Value] struct {
	From   S
	Event  E
	Switch func(S, E) (S, []F)
}

// Bench measures the time of Next for a table's first row and its last row, and of the same transitions in a plain switch.
func Bench[S, E, F Value](b *testing.B, table machine.Table[S, E, F], first, last Case[S, E, F]) {
	b.Helper()
	for i, c := range []Case[S, E, F]{first, last} {
		name := []string{"first row", "last row"}[i]
		b.Run(name+"/table", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Next(c.From, c.Event)
			}
		})
		b.Run(name+"/switch", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Switch(c.From, c.Event)
			}
		})
	}
}
