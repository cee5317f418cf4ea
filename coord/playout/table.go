package playout

// The transitions of the machine: one row for each state and event.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

const (
	reports = "the client reports"

	stale    = "it belongs to an older segment"
	late     = "it is the verdict on another candidate"
	silent   = "no response plays"
	busy     = "a response begins when the one before it has ended"
	notAsked = "the client was not asked"
	notCut   = "no response was cut"
	already  = "its response is cut already"
	notSent  = "it names another response, or nothing of it was sent"
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
		when("HoldTail", "the client reports, and may not have played the end yet", func(s Silent, e Candidate) bool {
			return e.Reports && s.Last != 0
		}, func(s Silent, e Candidate) (Held, []Effect) {
			return hold(Held{Resp: s.Last, Tail: true, Gen: s.Gen}, e)
		}),
		when("ForgetTail", "the client may not have played the end yet", func(s Silent, _ Clear) bool { return s.Last != 0 },
			func(s Silent, _ Clear) (Silent, []Effect) { return Silent{Gen: s.Gen}, nil }),
		when("MissTailHeld", "the response that was sent last, a turn is open",
			func(s Silent, e Missed) bool { return s.Last != 0 && s.Last == e.Resp && e.Candidate != 0 },
			func(s Silent, e Missed) (Held, []Effect) {
				return Held{Resp: e.Resp, Candidate: e.Candidate, At: e.From, Tail: true, Gen: s.Gen}, []Effect{Hold{e.Resp}}
			}),
		when("MissTail", "the response that was sent last", func(s Silent, e Missed) bool { return s.Last != 0 && s.Last == e.Resp },
			func(s Silent, e Missed) (Playing, []Effect) {
				return resume(Held{Resp: e.Resp, At: e.From, Tail: true, Gen: s.Gen})
			}),
		on("Shutdown", func(Silent, Shutdown) (Terminated, []Effect) { return Terminated{}, nil }),
	},
	ignore(stale, Silent{}, Drained{}),
	ignore(silent, Silent{}, Candidate{}, Confirm{}, Reject{}, Clear{}),
	ignore(notAsked, Silent{}, Ready{}, ReadyExpired{}),
	ignore(notCut, Silent{}, Heard{}, HeardExpired{}),
	ignore(notSent, Silent{}, Missed{}),

	[]row{
		when("Drained", "same segment", func(s Playing, e Drained) bool { return s.Resp == e.Resp && s.Gen == e.Gen },
			func(s Playing, _ Drained) (Silent, []Effect) {
				return Silent{s.Gen, s.Resp}, []Effect{EmitStopped{s.Resp}}
			}),
		on("Hold", func(s Playing, e Candidate) (Held, []Effect) {
			return hold(Held{Resp: s.Resp, Started: true, Gen: s.Gen}, e)
		}),
		when("ClearReported", reports, func(_ Playing, e Clear) bool { return e.Reports },
			func(s Playing, e Clear) (Cut, []Effect) {
				return Cut{s.Resp, e.Heard, s.Gen}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}, AwaitHeard{s.Resp}}
			}),
		on("Clear", func(s Playing, e Clear) (Silent, []Effect) {
			return Silent{Gen: s.Gen}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}, Truncate{s.Resp, e.Heard}}
		}),
		on("Shutdown", func(s Playing, _ Shutdown) (Terminated, []Effect) {
			return Terminated{}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}}
		}),
		when("Miss", "same response", func(s Playing, e Missed) bool { return s.Resp == e.Resp },
			func(s Playing, e Missed) (Playing, []Effect) {
				return resume(Held{Resp: s.Resp, At: e.From, Started: true, Gen: s.Gen})
			}),
	},
	ignore(stale, Playing{}, Drained{}),
	ignore(busy, Playing{}, Begin{}),
	ignore("nothing is held", Playing{}, Confirm{}, Reject{}),
	ignore(notAsked, Playing{}, Ready{}, ReadyExpired{}),
	ignore(notCut, Playing{}, Heard{}, HeardExpired{}),
	ignore(notSent, Playing{}, Missed{}),

	[]row{
		when("HoldForNewer", reports, func(_ Held, e Candidate) bool { return e.Reports },
			func(s Held, e Candidate) (Held, []Effect) {
				s.Candidate, s.Client, s.Awaits, s.Rejected = e.Candidate, e.Candidate, true, false
				return s, []Effect{AwaitReady{e.Candidate}}
			}),
		when("HoldAgain", "the older candidate was rejected", func(s Held, _ Candidate) bool { return s.Rejected },
			func(s Held, e Candidate) (Held, []Effect) {
				s.Candidate, s.Rejected = e.Candidate, false
				return s, nil
			}),
		when("ResumeWhenReady", "awaited, and the candidate is rejected", func(s Held, e Ready) bool { return s.awaits(e.Candidate) && s.Rejected },
			func(s Held, e Ready) (Playing, []Effect) { return resume(s.readyAt(e.At)) }),
		when("Ready", "awaited", func(s Held, e Ready) bool { return s.awaits(e.Candidate) },
			func(s Held, e Ready) (Held, []Effect) { return s.readyAt(e.At), nil }),
		when("ResumeUnready", "awaited, and the candidate is rejected", func(s Held, e ReadyExpired) bool { return s.awaits(e.Candidate) && s.Rejected },
			func(s Held, _ ReadyExpired) (Playing, []Effect) { return resume(s) }),
		when("GiveReadyUp", "awaited", func(s Held, e ReadyExpired) bool { return s.awaits(e.Candidate) },
			func(s Held, _ ReadyExpired) (Held, []Effect) { return s.readyAt(s.At), nil }),
		when("ConfirmReported", "same candidate, the client reports", func(s Held, e Confirm) bool {
			return s.judges(e.Candidate) && e.Reports && s.heard()
		}, func(s Held, _ Confirm) (Cut, []Effect) { return cutReported(s) }),
		when("Confirm", "same candidate", func(s Held, e Confirm) bool { return s.judges(e.Candidate) },
			func(s Held, _ Confirm) (Silent, []Effect) { return cut(s) }),
		when("RejectUnready", "same candidate, ready is awaited", func(s Held, e Reject) bool { return s.judges(e.Candidate) && s.Awaits },
			func(s Held, _ Reject) (Held, []Effect) {
				s.Rejected = true
				return s, nil
			}),
		when("Reject", "same candidate", func(s Held, e Reject) bool { return s.judges(e.Candidate) },
			func(s Held, _ Reject) (Playing, []Effect) { return resume(s) }),
		when("ClearHeldReported", "the client reports, and knows of the response", func(s Held, e Clear) bool { return e.Reports && s.Started },
			func(s Held, _ Clear) (Cut, []Effect) { return cutReported(s) }),
		on("ClearHeld", func(s Held, _ Clear) (Silent, []Effect) { return cut(s) }),
		on("Shutdown", func(s Held, _ Shutdown) (Terminated, []Effect) {
			if !s.Started {
				return Terminated{}, []Effect{Drop{s.Resp}}
			}
			return Terminated{}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}}
		}),
		when("MissHeld", "same response, and some of it was sent", func(s Held, e Missed) bool { return s.Resp == e.Resp && s.heard() },
			func(s Held, e Missed) (Held, []Effect) {
				s.At = e.From
				return s, nil
			}),
	},
	ignore(late, Held{}, Confirm{}, Reject{}),
	ignore("its segment was held", Held{}, Drained{}),
	ignore(busy, Held{}, Begin{}),
	ignore("it is held already", Held{}, Candidate{}),
	ignore("it is not awaited", Held{}, Ready{}, ReadyExpired{}),
	ignore(notCut, Held{}, Heard{}, HeardExpired{}),
	ignore(notSent, Held{}, Missed{}),

	[]row{
		when("Truncate", "same response", func(s Cut, e Heard) bool { return s.Resp == e.Resp },
			func(s Cut, e Heard) (Silent, []Effect) { return Silent{Gen: s.Gen}, []Effect{Truncate{s.Resp, e.At}} }),
		when("TruncateUnheard", "same response", func(s Cut, e HeardExpired) bool { return s.Resp == e.Resp },
			func(s Cut, _ HeardExpired) (Silent, []Effect) {
				return Silent{Gen: s.Gen}, []Effect{Truncate{s.Resp, s.At}}
			}),
		on("Shutdown", func(Cut, Shutdown) (Terminated, []Effect) { return Terminated{}, nil }),
	},
	ignore("it belongs to another response", Cut{}, Heard{}, HeardExpired{}),
	ignore("the report about the cut response comes first", Cut{}, Begin{}),
	ignore(stale, Cut{}, Drained{}),
	ignore(already, Cut{}, Candidate{}, Confirm{}, Reject{}, Clear{}),
	ignore(notAsked, Cut{}, Ready{}, ReadyExpired{}),
	ignore(already, Cut{}, Missed{}),

	ignore("the session has ended", Terminated{}, Begin{}, Drained{}, Candidate{}, Ready{}, ReadyExpired{}, Confirm{}, Reject{},
		Clear{}, Heard{}, HeardExpired{}, Missed{}, Shutdown{}),
)

// heard reports whether the client has been told of the response, and may have played some of it.
func (s Held) heard() bool { return s.Started || s.Tail }

// judges reports whether a verdict on t is the first verdict on the candidate that s is held for.
func (s Held) judges(t machine.Turn) bool { return s.Candidate == t && !s.Rejected }

// awaits reports whether s waits for the client's ready for its candidate t.
func (s Held) awaits(t machine.Turn) bool { return s.Client == t && s.Awaits }

// readyAt returns s after the client's ready: s waits no longer, and the response goes on from m if the client has played some of it.
func (s Held) readyAt(m Position) Held {
	if s.Awaits = false; s.heard() {
		s.At = m
	}
	return s
}

// hold returns the state and the effects of holding the response of s for the candidate e.
func hold(s Held, e Candidate) (Held, []Effect) {
	s.Candidate, s.At = e.Candidate, e.Heard
	if !e.Reports {
		return s, []Effect{Hold{s.Resp}}
	}
	s.Client, s.Awaits = e.Candidate, true
	return s, []Effect{Hold{s.Resp}, AwaitReady{e.Candidate}}
}

// resume plays a held response from the position of s, or from its beginning if the client has not been told of it. It tells the
// client of the rejected candidate after that, so that the client then hears the response and not silence.
func resume(s Held) (Playing, []Effect) {
	next := Playing{s.Resp, s.Gen + 1}
	out := make([]Effect, 0, 3)
	if s.heard() {
		out = append(out, RewindAndResume{s.Resp, s.At, next.Gen})
	} else {
		out = append(out, Play{s.Resp, next.Gen})
	}
	if !s.Started { // the end was announced, so the start is announced again
		out = append(out, EmitStarted{s.Resp})
	}
	if s.Client != 0 {
		out = append(out, EmitRejected{s.Client})
	}
	return next, out
}

// cut drops a held response and truncates its items at the position of s.
func cut(s Held) (Silent, []Effect) {
	if !s.Started {
		return Silent{Gen: s.Gen}, []Effect{Drop{s.Resp}, Truncate{s.Resp, s.At}}
	}
	return Silent{Gen: s.Gen}, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}, Truncate{s.Resp, s.At}}
}

// cutReported drops a held response, and waits until the client reports how far it has played it.
func cutReported(s Held) (Cut, []Effect) {
	next := Cut{s.Resp, s.At, s.Gen}
	if !s.Started {
		return next, []Effect{Drop{s.Resp}, AwaitHeard{s.Resp}}
	}
	return next, []Effect{Drop{s.Resp}, EmitCleared{s.Resp}, AwaitHeard{s.Resp}}
}
