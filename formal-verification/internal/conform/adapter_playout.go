package conform

// The adapter of playout.fizz: compares it with the table of coord/playout.

import (
	"fmt"
	"reflect"

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

// playoutMachine returns the adapter. In the spec the state is one record, and what the monitor remembers is another one.
func playoutMachine() Comparer {
	m := watched("playout", playout.Table, playout.Monitor, playout.State(playout.Silent{}), playout.Values, playoutEvents, nil)
	fields := FieldsOf(playout.Values)
	m.Vars = func(s playout.State, w world[playout.State, playout.Seen]) map[string]string {
		seen := map[string]string{}
		eachField(w.Seen, func(name string, field reflect.Value) { seen[name] = fieldText(field) })
		return map[string]string{
			"s": record(ghosts(fields(s), map[string]any{"newest": playoutNewest(w.Seen)})),
			"g": record(ghosts(seen, map[string]any{"bad": ""})),
		}
	}
	return m
}

// playoutNewest returns the newest response that has begun.
func playoutNewest(g playout.Seen) machine.Response { return max(g.Ended, g.Resp) }

// playoutEvents returns the next response, reports of every segment of every response, verdicts on every turn, and clears, at any
// time. It leaves out a response and a hold that would need a segment beyond the bound. While a response is held, it leaves out
// older turns.
func playoutEvents(s playout.State, g playout.Seen) []Labelled[playout.Event] {
	var o playoutOffers
	o.add(playout.Shutdown{}, "Shutdown")
	for _, reports := range []bool{false, true} {
		o.add(playout.Clear{Reason: playout.ByClient, Heard: playoutPositions[1], Reports: reports}, "Clear place=1 reports=%t", reports)
		o.add(playout.Clear{Reason: playout.ByTurn, Heard: playoutPositions[2], Reports: reports}, "Clear place=2 reports=%t", reports)
	}
	for turn := machine.Turn(0); turn <= playoutTurns; turn++ {
		if fresh := playoutNewest(g) + 1; g.Gen < playoutGens && fresh <= playoutReplies {
			o.add(playout.Begin{Resp: fresh, Candidate: turn}, "Begin turn=%d", turn)
		}
		if turn > 0 {
			o.ofTurn(s, g, turn)
		}
	}
	playing, _ := s.(playout.Playing)
	cut, _ := s.(playout.Cut)
	for reply := machine.Response(1); reply <= playoutReplies; reply++ {
		for segment := range uint32(playoutGens + 1) {
			own := playing == playout.Playing{Resp: reply, Gen: segment}
			o.addOwn(own, playout.Drained{Resp: reply, Gen: segment}, "Drained", " reply=%d segment=%d", reply, segment)
		}
		o.missed(s, g, reply)
		o.addOwn(reply == cut.Resp, playout.Heard{Resp: reply, At: playoutPositions[2]}, "Heard", " reply=%d", reply)
		o.addOwn(reply == cut.Resp, playout.HeardExpired{Resp: reply}, "HeardExpired", " reply=%d", reply)
	}
	return o.offer
}

// playoutOffers collects events with their labels.
type playoutOffers struct{ offer[playout.Event] }

// addOwn adds an event whose label has the values a only if they are not the machine's own.
func (o *playoutOffers) addOwn(own bool, e playout.Event, action, values string, a ...any) {
	label := action
	if !own {
		label += fmt.Sprintf(values, a...)
	}
	o.add(e, "%s", label)
}

// missed adds the events that say what a cut network has lost of a reply. It leaves them out where the reply may need a segment beyond
// the bound.
func (o *playoutOffers) missed(s playout.State, g playout.Seen, reply machine.Response) {
	silent, ends := s.(playout.Silent)
	for place := 1; place < len(playoutPositions) && g.Gen < playoutGens; place++ {
		for turn := machine.Turn(0); turn <= playoutTurns && (ends || turn == 0); turn++ {
			e := playout.Missed{Resp: reply, From: playoutPositions[place], Candidate: turn}
			o.addOwn(reply == max(silent.Last, g.Resp), e, fmt.Sprintf("Missed place=%d turn=%d", place, turn), " reply=%d", reply)
		}
	}
}

func (o *playoutOffers) ofTurn(s playout.State, g playout.Seen, turn machine.Turn) {
	held, is := s.(playout.Held)
	o.add(playout.Reject{Candidate: turn}, "Reject turn=%d", turn)
	o.add(playout.Ready{Candidate: turn, At: playoutPositions[1]}, "Ready turn=%d", turn)
	o.addOwn(turn == held.Client, playout.ReadyExpired{Candidate: turn}, "ReadyExpired", " turn=%d", turn)
	for _, reports := range []bool{false, true} {
		confirm := playout.Confirm{Candidate: turn, Reports: reports}
		o.addOwn(is && turn == held.Candidate, confirm, fmt.Sprintf("Confirm reports=%t", reports), " turn=%d", turn)
		if g.Gen < playoutGens && (!is || turn > held.Candidate || reports && turn > held.Client) {
			o.add(playout.Candidate{Candidate: turn, Heard: playoutPositions[turn], Reports: reports}, "Candidate turn=%d reports=%t", turn, reports)
		}
	}
}
