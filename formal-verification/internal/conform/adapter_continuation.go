package conform

// The adapter of continuation.fizz: compares it with the table of internal/coord/continuation.

import "github.com/antiphon-rt/antiphon/internal/coord/continuation"

// continuationAnswers is ANSWERS of specs/continuation.fizz.
const continuationAnswers = 2

func continuationMachine() Comparer {
	return watched("continuation", continuation.Table, continuation.Monitor, continuation.State(continuation.Quiet{}), continuation.Values, continuationEvents,
		func(g continuation.Seen) map[string]any {
			return map[string]any{"seen": map[string]any{
				"newest": g.Newest, "goes": g.Goes, "of": g.Of, "before": g.Before, "due": g.Due, "heard": g.Heard, "back": g.Back,
			}}
		})
}

// continuationEvents returns every event. It leaves out an answer beyond the bound, and a Kept in Quiet after the beginning.
func continuationEvents(_ continuation.State, g continuation.Seen) []Labelled[continuation.Event] {
	o := offer[continuation.Event]{
		{"Called", continuation.Called{}},
		{"Cancelled", continuation.Cancelled{}},
		{"Settled", continuation.Settled{}},
		{"Turn", continuation.Turn{}},
		{"Free", continuation.Free{}},
	}
	flags := []bool{false, true}
	for _, a := range flags {
		o.add(continuation.Lost{Called: a}, "Lost called=%t", a)
		for _, b := range flags {
			if g.Newest == 0 || g.Goes {
				o.add(continuation.Kept{Due: a, Heard: b}, "Kept due=%t begun=%t", a, b)
			}
			if g.Newest < continuationAnswers {
				o.add(continuation.Created{Of: g.Newest + 1, Says: a, Behind: b}, "Created says=%t behind=%t", a, b)
			}
		}
	}
	for n := range 48 {
		words, bit := n%3, func(at int) bool { return n/3>>at&1 == 1 }
		o.add(continuation.TakenOver{
			Speech: bit(0), Words: words > 0, Newest: words == 2, Under: bit(1), Heard: bit(2), Queued: bit(3),
		}, "TakenOver speech=%t words=%d under=%t begun=%t queued=%t", bit(0), words, bit(1), bit(2), bit(3))
	}
	return o
}
