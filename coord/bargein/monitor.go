package bargein

// The monitor of the machine: what it remembers of earlier steps, and the list of invariants that it checks.

import (
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/machine"
)

type edge = machine.Edge[State, Event, Effect]

// Level is how loud the agent is.
type Level uint8

// The levels.
const (
	FullLevel Level = iota
	Lowered         // by 20 dB
	NoLevel         // nothing is heard
)

// Seen is what a monitor remembers of a run, however long: replies and candidates
// count up, so one number stands for all that are known.
type Seen struct {
	Resp   id.Response // is heard; 0 is none
	Last   id.Response // newest that was heard or cut off
	Cut    id.Response // newest that was cut off
	Newest ID          // newest candidate that the server was told of
	Waits  ID          // it waits for its verdict; 0 is none
	Owes   ID          // its ready has not been sent; 0 is none
	Full   Mark        // while a ready is owed: up to here the reply was heard at full level
	Armed  ID          // its deadline runs; 0 is none
	Level  Level
	Down   bool
}

// Monitor watches the machine: it is evaluated by the explore tests, by whoever
// simulates sessions, and by a client that is asked to check itself.
var Monitor = machine.Monitor[State, Event, Effect, Seen]{
	See: see,
	Invariants: []machine.Invariant[State, Event, Effect, Seen]{
		{Name: "LevelIsState", Holds: levelIsState},
		{Name: "NeverStuckDucked", Holds: neverStuckDucked},
		{Name: "CandidateOnce", Holds: candidateOnce},
		{Name: "AckIsAwaited", Holds: ackIsAwaited},
		{Name: "NoWordLost", Holds: noWordLost},
		{Name: "NothingHeardAfterConfirm", Holds: nothingHeardAfterConfirm},
		{Name: "HeardOnce", Holds: heardOnce},
		{Name: "VerdictOnce", Holds: verdictOnce},
		{Name: "StaleIsHarmless", Holds: staleIsHarmless},
	},
}

func see(g Seen, step edge) Seen {
	g = g.event(step.Event)
	for _, f := range step.Effects {
		g = g.effect(f)
	}
	if g.Owes == 0 {
		g.Full = 0 // nobody asks any more
	}
	return g
}

// fits says whether an event is about what is heard, what waits or what is owed.
func (g Seen) fits(e Event) bool {
	if g.Down {
		return false
	}
	switch e := e.(type) {
	case Began:
		return g.Waits == 0 && e.Resp > g.Last
	case Ended:
		return g.Waits == 0 && g.Owes == 0 && g.Resp != 0 && e.Resp == g.Resp
	case Onset:
		return g.Waits == 0 && g.Resp != 0
	case Sustained:
		return e.Candidate == g.Waits && g.Level == Lowered
	case VoiceEnded:
		return e.Candidate == g.Waits && g.Level == NoLevel
	case Acked:
		return e.Candidate == g.Owes
	case Passed:
		return e.Candidate == g.Owes
	case Rejected:
		return e.Candidate == g.Waits || e.Candidate == g.Owes
	case Confirmed:
		return e.Resp >= g.Last && e.Resp > g.Cut
	case Expired:
		return e.Candidate == g.Waits
	case Close:
	}
	return true
}

// event counts what the event says.
func (g Seen) event(e Event) Seen {
	if !g.fits(e) {
		return g
	}
	switch e := e.(type) {
	case Began:
		g.Resp, g.Last, g.Owes = e.Resp, e.Resp, 0
	case Ended:
		g.Resp = 0
	case Onset:
		if g.Owes == 0 {
			g.Full = e.At
		}
	case Rejected:
		g.Waits, g.Owes, g.Armed = 0, 0, 0
	case Confirmed:
		g.Resp, g.Last, g.Waits, g.Owes, g.Armed = 0, e.Resp, 0, 0, 0
	case Expired:
		g.Waits, g.Armed = 0, 0
	case Close:
		g = Seen{Down: true, Level: g.Level, Newest: g.Newest, Last: g.Last, Cut: g.Cut}
	case Sustained, VoiceEnded, Acked, Passed:
	}
	return g
}

func (g Seen) effect(f Effect) Seen {
	switch f := f.(type) {
	case Duck:
		g.Level = Lowered
	case Silence:
		g.Level = NoLevel
	case Restore:
		g.Level = FullLevel
	case SendCandidate:
		g.Newest, g.Waits, g.Owes = max(g.Newest, f.Candidate), f.Candidate, f.Candidate
	case ArmDeadline:
		g.Armed = f.Candidate
	case SendReady:
		g.Owes = 0
	case Mute:
		g.Cut = max(g.Cut, f.Resp)
	case AwaitMark, SendHeard:
	}
	return g
}

func each(before Seen, step edge, holds func(Seen, Effect) bool) bool {
	return machine.Each(before.event(step.Event), step.Effects, Seen.effect, holds)
}
