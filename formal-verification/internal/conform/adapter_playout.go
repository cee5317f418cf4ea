package conform

// The adapter of playout.fizz: compares it with the table of coord/playout.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
)

// REPLIES, TURNS and GENS of specs/playout.fizz.
const (
	playoutReplies = 2
	playoutTurns   = 2
	playoutGens    = 3
)

// playoutPositions is POSITIONS of the spec, which names a position by its index there.
var playoutPositions = []playout.Position{{}, {Item: 1, MS: 500}, {Item: 2, MS: 40}}

type playoutWorld = world[playout.State, playout.Seen]

// playoutMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func playoutMachine() Comparer {
	return Machine[playout.State, playout.Event, playout.Effect, playoutWorld]{
		Spec: "playout", Table: playout.Table, First: playout.Silent{},
		Domain: playoutWorld{At: playout.Silent{}},
		Events: playoutEvents,
		Grow:   monitored(playout.Table, playout.Monitor),
		Vars: func(s playout.State, w playoutWorld) map[string]string {
			fields := playoutFields(s)
			fields["newest"] = playoutNewest(w)
			g := w.Seen
			return map[string]string{"s": JSON(fields), "g": JSON(map[string]any{
				"ended": g.Ended, "resp": g.Resp, "started": g.Started, "tail": g.Tail, "sounds": g.Sounds, "candidate": g.Candidate,
				"client": g.Client, "awaits": g.Awaits, "rejected": g.Rejected, "at": slices.Index(playoutPositions, g.At),
				"last": g.Last, "cut": g.Cut, "gen": g.Gen, "down": g.Down, "bad": "",
			})}
		},
	}
}

// playoutFields returns a state as the spec writes it. A field that the state does not have is 0 or false.
func playoutFields(s playout.State) map[string]any {
	var all playout.Held
	var last machine.Response
	switch s := s.(type) {
	case playout.Silent:
		all.Gen, last = s.Gen, s.Last
	case playout.Playing:
		all.Resp, all.Gen = s.Resp, s.Gen
	case playout.Held:
		all = s
	case playout.Cut:
		all.Resp, all.At, all.Gen = s.Resp, s.At, s.Gen
	case playout.Terminated:
	}
	return map[string]any{
		"state": s.Name(), "resp": all.Resp, "candidate": all.Candidate, "client": all.Client, "at": slices.Index(playoutPositions, all.At),
		"started": all.Started, "tail": all.Tail, "awaits": all.Awaits, "rejected": all.Rejected, "gen": all.Gen, "last": last,
	}
}

// playoutNewest returns the newest response that has begun.
func playoutNewest(w playoutWorld) machine.Response { return max(w.Seen.Ended, w.Seen.Resp) }

// playoutEvents returns the next response, reports of every segment of every response, verdicts on every turn, and clears, at any
// time. It leaves out a response and a hold that would need a segment beyond the bound. While a response is held, it leaves out
// older turns.
func playoutEvents(s playout.State, w playoutWorld) []Labelled[playout.Event] {
	var o playoutOffers
	o.add(playout.Shutdown{}, "Shutdown")
	for _, reports := range []bool{false, true} {
		o.add(playout.Clear{Reason: playout.ByClient, Heard: playoutPositions[1], Reports: reports}, "Clear place=1 reports=%t", reports)
		o.add(playout.Clear{Reason: playout.ByTurn, Heard: playoutPositions[2], Reports: reports}, "Clear place=2 reports=%t", reports)
	}
	for turn := machine.Turn(0); turn <= playoutTurns; turn++ {
		if fresh := playoutNewest(w) + 1; w.Seen.Gen < playoutGens && fresh <= playoutReplies {
			o.add(playout.Begin{Resp: fresh, Candidate: turn}, "Begin turn=%d", turn)
		}
		if turn > 0 {
			o.ofTurn(s, w, turn)
		}
	}
	playing, _ := s.(playout.Playing)
	cut, _ := s.(playout.Cut)
	for reply := machine.Response(1); reply <= playoutReplies; reply++ {
		for segment := range uint32(playoutGens + 1) {
			label := own("Drained", playing == playout.Playing{Resp: reply, Gen: segment})
			o.add(playout.Drained{Resp: reply, Gen: segment}, "%s reply=%d segment=%d", label, reply, segment)
		}
		o.missed(s, w, reply)
		o.add(playout.Heard{Resp: reply, At: playoutPositions[2]}, "%s reply=%d", own("Heard", reply == cut.Resp), reply)
		o.add(playout.HeardExpired{Resp: reply}, "%s reply=%d", own("HeardExpired", reply == cut.Resp), reply)
	}
	return o
}

// playoutOffers collects events with their labels.
type playoutOffers []Labelled[playout.Event]

func own(action string, is bool) string {
	if is {
		return "own " + action
	}
	return action
}

func (o *playoutOffers) add(e playout.Event, label string, a ...any) {
	label = fmt.Sprintf(label, a...)
	if rest, is := strings.CutPrefix(label, "own "); is {
		label, _, _ = strings.Cut(rest, " ")
	}
	*o = append(*o, Labelled[playout.Event]{label, e})
}

// missed adds the events that say what a cut network has lost of a reply. It leaves them out where the reply may need a segment beyond
// the bound.
func (o *playoutOffers) missed(s playout.State, w playoutWorld, reply machine.Response) {
	silent, ends := s.(playout.Silent)
	for place := 1; place < len(playoutPositions) && w.Seen.Gen < playoutGens; place++ {
		for turn := machine.Turn(0); turn <= playoutTurns && (ends || turn == 0); turn++ {
			e := playout.Missed{Resp: reply, From: playoutPositions[place], Candidate: turn}
			if reply == max(silent.Last, w.Seen.Resp) {
				o.add(e, "Missed place=%d turn=%d", place, turn)
			} else {
				o.add(e, "Missed place=%d turn=%d reply=%d", place, turn, reply)
			}
		}
	}
}

// ofTurn adds the events about a turn.
func (o *playoutOffers) ofTurn(s playout.State, w playoutWorld, turn machine.Turn) {
	held, is := s.(playout.Held)
	o.add(playout.Reject{Candidate: turn}, "Reject turn=%d", turn)
	o.add(playout.Ready{Candidate: turn, At: playoutPositions[1]}, "Ready turn=%d", turn)
	o.add(playout.ReadyExpired{Candidate: turn}, "%s turn=%d", own("ReadyExpired", turn == held.Client), turn)
	for _, reports := range []bool{false, true} {
		if label := "Confirm reports=%t"; is && turn == held.Candidate {
			o.add(playout.Confirm{Candidate: turn, Reports: reports}, label, reports)
		} else {
			o.add(playout.Confirm{Candidate: turn, Reports: reports}, label+" turn=%d", reports, turn)
		}
		if w.Seen.Gen < playoutGens && (!is || turn > held.Candidate || reports && turn > held.Client) {
			o.add(playout.Candidate{Candidate: turn, Heard: playoutPositions[turn], Reports: reports}, "Candidate turn=%d reports=%t", turn, reports)
		}
	}
}
