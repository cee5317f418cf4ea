package playout

import "github.com/antiphon-rt/antiphon/coord/machine"

type row = machine.Row[State, Event, Effect]

func on[From State, Ev Event, To State](action string, f func(From, Ev) (To, []Effect)) row {
	return machine.On[State, Event](action, f)
}

func when[From State, Ev Event, To State](action, guard string, holds func(From, Ev) bool, f func(From, Ev) (To, []Effect)) row {
	return machine.When[State, Event](action, guard, holds, f)
}

func ignore(why string, from State, on ...Event) []row {
	return machine.Ignore[State, Event, Effect](why, from, on...)
}

const (
	stale  = "it is an older segment's"
	late   = "the verdict is another candidate's"
	silent = "nothing is to be heard"
	busy   = "a reply begins when the one before it has ended"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("BeginHeld", "a turn is open", func(_ Silent, e Begin) bool { return e.Candidate != 0 },
			func(s Silent, e Begin) (Held, []Effect) {
				return Held{Resp: e.Resp, Candidate: e.Candidate, Gen: s.Gen}, []Effect{Hold{e.Resp}}
			}),
		on("Begin", func(s Silent, e Begin) (Playing, []Effect) {
			return Playing{e.Resp, s.Gen + 1}, []Effect{Play{e.Resp, s.Gen + 1}, EmitStarted{e.Resp}}
		}),
		on("Shutdown", func(Silent, Shutdown) (Terminated, []Effect) { return Terminated{}, nil }),
	},
	ignore(stale, Silent{}, Drained{}),
	ignore(silent, Silent{}, Candidate{}, Confirm{}, Reject{}, Clear{}),

	[]row{
		when("Drained", "same segment", func(s Playing, e Drained) bool { return s.Resp == e.Resp && s.Gen == e.Gen },
			func(s Playing, _ Drained) (Silent, []Effect) { return Silent{s.Gen}, []Effect{EmitStopped{s.Resp}} }),
		on("Hold", func(s Playing, e Candidate) (Held, []Effect) {
			return Held{s.Resp, e.Candidate, e.Heard, true, s.Gen}, []Effect{Hold{s.Resp}}
		}),
		on("Clear", func(s Playing, e Clear) (Silent, []Effect) {
			return Silent{s.Gen}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}, Truncate{s.Resp, e.Heard}}
		}),
		on("Shutdown", func(s Playing, _ Shutdown) (Terminated, []Effect) {
			return Terminated{}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}}
		}),
	},
	ignore(stale, Playing{}, Drained{}),
	ignore(busy, Playing{}, Begin{}),
	ignore("nothing is held", Playing{}, Confirm{}, Reject{}),

	[]row{
		when("Confirm", "same candidate", func(s Held, e Confirm) bool { return s.Candidate == e.Candidate },
			func(s Held, _ Confirm) (Silent, []Effect) { return cut(s) }),
		when("RejectUnheard", "same candidate, not started", func(s Held, e Reject) bool {
			return s.Candidate == e.Candidate && !s.Started
		}, func(s Held, _ Reject) (Playing, []Effect) {
			return Playing{s.Resp, s.Gen + 1}, []Effect{Play{s.Resp, s.Gen + 1}, EmitStarted{s.Resp}}
		}),
		when("Reject", "same candidate", func(s Held, e Reject) bool { return s.Candidate == e.Candidate },
			func(s Held, _ Reject) (Playing, []Effect) {
				return Playing{s.Resp, s.Gen + 1}, []Effect{RewindAndResume{s.Resp, s.At, s.Gen + 1}}
			}),
		on("ClearHeld", func(s Held, _ Clear) (Silent, []Effect) { return cut(s) }),
		on("Shutdown", func(s Held, _ Shutdown) (Terminated, []Effect) {
			if !s.Started {
				return Terminated{}, []Effect{Drop{s.Resp}}
			}
			return Terminated{}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}}
		}),
	},
	ignore(late, Held{}, Confirm{}, Reject{}),
	ignore("its segment was held", Held{}, Drained{}),
	ignore(busy, Held{}, Begin{}),
	ignore("it is held already", Held{}, Candidate{}),

	ignore("the session has ended", Terminated{}, Begin{}, Drained{}, Candidate{}, Confirm{}, Reject{}, Clear{}, Shutdown{}),
)

// cut ends a held reply at what was heard of it.
func cut(s Held) (Silent, []Effect) {
	if !s.Started {
		return Silent{s.Gen}, []Effect{Drop{s.Resp}, Truncate{s.Resp, s.At}}
	}
	return Silent{s.Gen}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}, Truncate{s.Resp, s.At}}
}
