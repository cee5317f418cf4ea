package conform

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/playout"
)

// REPLIES, TURNS and GENS of specs/playout.fizz.
const (
	playoutReplies = 2
	playoutTurns   = 2
	playoutGens    = 3
)

// playoutMarks is MARKS of the spec, which knows a place by its number there.
var playoutMarks = []playout.Mark{{}, {Item: 1, MS: 500}, {Item: 2, MS: 40}}

type playoutWorld = world[playout.State, playout.Seen]

// playoutMachine also compares the spec's ghosts with what the monitor has seen.
func playoutMachine() Comparer {
	fields := Fields[playout.State](playout.Silent{}, playout.Playing{}, playout.Held{}, playout.Terminated{})
	return Machine[playout.State, playout.Event, playout.Effect, playoutWorld]{
		Spec: "playout", Table: playout.Table, First: playout.Silent{},
		Domain: playoutWorld{At: playout.Silent{}},
		Events: playoutEvents,
		Grow:   monitored(playout.Table, playout.Monitor),
		Vars: func(s playout.State, w playoutWorld) map[string]string {
			held, _ := s.(playout.Held)
			return ghosts(fields(s), map[string]any{
				"at": slices.Index(playoutMarks, held.At), "newest": playoutNewest(w),
				"ended": w.Seen.Ended, "heard_of": w.Seen.Resp, "announced": w.Seen.Started, "sounds": w.Seen.Sounds,
				"held": w.Seen.Candidate, "heard": ifSo(w.Seen.Resp != 0, slices.Index(playoutMarks, w.Seen.At)),
				"newest_gen": w.Seen.Gen, "down": w.Seen.Down,
			})
		},
	}
}

// playoutNewest is the newest reply that has begun.
func playoutNewest(w playoutWorld) id.Response { return max(w.Seen.Ended, w.Seen.Resp) }

// playoutEvents offers the next reply, reports of every segment of every reply, verdicts
// on every turn and clears, at any time. What would need a segment beyond the bound is
// not offered: a reply, and a hold that only such a segment could end.
func playoutEvents(_ playout.State, w playoutWorld) []Labelled[playout.Event] {
	var out []Labelled[playout.Event]
	add := func(e playout.Event, label string, a ...any) {
		out = append(out, Labelled[playout.Event]{fmt.Sprintf(label, a...), e})
	}
	add(playout.Shutdown{}, "Shutdown")
	add(playout.Clear{Reason: playout.ByClient, Heard: playoutMarks[1]}, "Clear place=1")
	add(playout.Clear{Reason: playout.ByTurn, Heard: playoutMarks[2]}, "Clear place=2")
	more := w.Seen.Gen < playoutGens
	for turn := id.Turn(0); turn <= playoutTurns; turn++ {
		if fresh := playoutNewest(w) + 1; more && fresh <= playoutReplies {
			add(playout.Begin{Resp: fresh, Candidate: turn}, "Begin turn=%d", turn)
		}
		if turn == 0 {
			continue
		}
		add(playout.Confirm{Candidate: turn}, "Confirm turn=%d", turn)
		add(playout.Reject{Candidate: turn}, "Reject turn=%d", turn)
		for place := 1; more && place < len(playoutMarks); place++ {
			add(playout.Candidate{Candidate: turn, Heard: playoutMarks[place]}, "Candidate turn=%d place=%d", turn, place)
		}
	}
	for reply := id.Response(1); reply <= playoutReplies; reply++ {
		for segment := range uint32(playoutGens + 1) {
			add(playout.Drained{Resp: reply, Gen: segment}, "Drained reply=%d segment=%d", reply, segment)
		}
	}
	return out
}
