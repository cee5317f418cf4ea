package bargein

// The transitions of the machine: one row for each state and event.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

const (
	same = "same candidate"
	// missed: the user has heard a silence that the server knows nothing of.
	missed = "same candidate, something is missed"
	newer  = "newer response"
	known  = "not an older response" // than the one that plays

	other   = "it belongs to another candidate"
	older   = "it belongs to an older response"
	nobody  = "no candidate waits"
	waits   = "a candidate waits already"
	later   = "the driver sends it again when the candidate has ended"
	already = "the silence of the server plays already"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("Begin", newer, func(s Silent, e Began) bool { return e.Resp > s.Last },
			func(_ Silent, e Began) (Playing, []Effect) { return Playing(e), nil }),
		when("ConfirmSilent", "not cut yet", func(s Silent, e Confirmed) bool {
			return e.Resp > s.Last || e.Resp == s.Last && !s.Cut
		}, func(_ Silent, e Confirmed) (Silent, []Effect) { return cut(e) }),
		on("Close", func(Silent, Close) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(older, Silent{}, Began{}, Confirmed{}),
	ignore("no response plays", Silent{}, Ended{}, Onset{}),
	ignore(nobody, Silent{}, Sustained{}, VoiceEnded{}, Acked{}, Passed{}, Rejected{}, Expired{}),

	[]row{
		on("Duck", func(s Playing, e Onset) (Ducked, []Effect) {
			return duck(Ducked{Resp: s.Resp, Candidate: e.Candidate, Full: e.At}, e)
		}),
		when("Begin", newer, func(s Playing, e Began) bool { return e.Resp > s.Resp },
			func(_ Playing, e Began) (Playing, []Effect) { return Playing(e), nil }),
		when("End", "same response", func(s Playing, e Ended) bool { return e.Resp == s.Resp },
			func(s Playing, _ Ended) (Silent, []Effect) { return Silent{Last: s.Resp}, nil }),
		when("Confirm", known, func(s Playing, e Confirmed) bool { return e.Resp >= s.Resp },
			func(_ Playing, e Confirmed) (Silent, []Effect) { return cut(e) }),
		on("Close", func(Playing, Close) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(older, Playing{}, Began{}, Ended{}, Confirmed{}),
	ignore(nobody, Playing{}, Sustained{}, VoiceEnded{}, Acked{}, Passed{}, Rejected{}, Expired{}),

	[]row{
		when("Silence", same, func(s Ducked, e Sustained) bool { return e.Candidate == s.Candidate },
			func(s Ducked, _ Sustained) (Silenced, []Effect) {
				s.Missed = true
				return Silenced(s), []Effect{Silence{}}
			}),
		when("Await", same, func(s Ducked, e Acked) bool { return e.Candidate == s.Candidate },
			func(s Ducked, e Acked) (Ducked, []Effect) { return s, []Effect{AwaitPosition(e)} }),
		when("Restore", same, func(s Ducked, e Passed) bool { return e.Candidate == s.Candidate },
			func(s Ducked, _ Passed) (Restored, []Effect) { return restore(s) }),
		when("RejectMissed", missed, func(s Ducked, e Rejected) bool { return e.Candidate == s.Candidate && s.Missed },
			func(s Ducked, _ Rejected) (Playing, []Effect) { return goBack(s) }),
		when("Reject", same, func(s Ducked, e Rejected) bool { return e.Candidate == s.Candidate },
			func(s Ducked, _ Rejected) (Playing, []Effect) { return Playing{s.Resp}, []Effect{Restore{}} }),
		when("Expire", same, func(s Ducked, e Expired) bool { return e.Candidate == s.Candidate },
			func(s Ducked, _ Expired) (Unanswered, []Effect) { return Unanswered(s), []Effect{Restore{}} }),
		when("Confirm", known, func(s Ducked, e Confirmed) bool { return e.Resp >= s.Resp },
			func(_ Ducked, e Confirmed) (Silent, []Effect) { return cutLowered(e) }),
		on("Close", func(Ducked, Close) (Closed, []Effect) { return Closed{}, []Effect{Restore{}} }),
	},
	ignore(waits, Ducked{}, Onset{}),
	ignore("the verdict or the deadline restores", Ducked{}, VoiceEnded{}),
	ignore(later, Ducked{}, Began{}, Ended{}),
	ignore(older, Ducked{}, Confirmed{}),
	ignore(other, Ducked{}, Sustained{}, Acked{}, Passed{}, Rejected{}, Expired{}),

	[]row{
		when("Soften", same, func(s Silenced, e VoiceEnded) bool { return e.Candidate == s.Candidate },
			func(s Silenced, _ VoiceEnded) (Ducked, []Effect) { return Ducked(s), []Effect{Duck{}} }),
		when("Await", same, func(s Silenced, e Acked) bool { return e.Candidate == s.Candidate },
			func(s Silenced, e Acked) (Silenced, []Effect) { return s, []Effect{AwaitPosition(e)} }),
		when("Restore", same, func(s Silenced, e Passed) bool { return e.Candidate == s.Candidate },
			func(s Silenced, _ Passed) (Restored, []Effect) { return restore(Ducked(s)) }),
		when("Reject", same, func(s Silenced, e Rejected) bool { return e.Candidate == s.Candidate },
			func(s Silenced, _ Rejected) (Playing, []Effect) { return goBack(Ducked(s)) }),
		when("Expire", same, func(s Silenced, e Expired) bool { return e.Candidate == s.Candidate },
			func(s Silenced, _ Expired) (Unanswered, []Effect) { return Unanswered(s), []Effect{Restore{}} }),
		when("Confirm", known, func(s Silenced, e Confirmed) bool { return e.Resp >= s.Resp },
			func(_ Silenced, e Confirmed) (Silent, []Effect) { return cutLowered(e) }),
		on("Close", func(Silenced, Close) (Closed, []Effect) { return Closed{}, []Effect{Restore{}} }),
	},
	ignore(waits, Silenced{}, Onset{}),
	ignore("the agent is silenced already", Silenced{}, Sustained{}),
	ignore(later, Silenced{}, Began{}, Ended{}),
	ignore(older, Silenced{}, Confirmed{}),
	ignore(other, Silenced{}, VoiceEnded{}, Acked{}, Passed{}, Rejected{}, Expired{}),

	[]row{
		when("Reject", same, func(s Restored, e Rejected) bool { return e.Candidate == s.Candidate },
			func(s Restored, _ Rejected) (Playing, []Effect) { return Playing{s.Resp}, nil }),
		when("Expire", same, func(s Restored, e Expired) bool { return e.Candidate == s.Candidate },
			func(s Restored, _ Expired) (Playing, []Effect) { return Playing{s.Resp}, nil }),
		when("Confirm", known, func(s Restored, e Confirmed) bool { return e.Resp >= s.Resp },
			func(_ Restored, e Confirmed) (Silent, []Effect) { return cut(e) }),
		on("Close", func(Restored, Close) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(waits, Restored{}, Onset{}),
	ignore(already, Restored{}, Sustained{}, VoiceEnded{}, Acked{}, Passed{}),
	ignore(later, Restored{}, Began{}, Ended{}),
	ignore(older, Restored{}, Confirmed{}),
	ignore(other, Restored{}, Rejected{}, Expired{}),

	[]row{
		on("DuckAgain", func(s Unanswered, e Onset) (Ducked, []Effect) {
			s.Candidate = e.Candidate
			return duck(Ducked(s), e)
		}),
		when("Await", same, func(s Unanswered, e Acked) bool { return e.Candidate == s.Candidate },
			func(s Unanswered, e Acked) (Unanswered, []Effect) { return s, []Effect{AwaitPosition(e)} }),
		when("AnswerLate", same, func(s Unanswered, e Passed) bool { return e.Candidate == s.Candidate },
			func(s Unanswered, _ Passed) (Playing, []Effect) {
				return Playing{s.Resp}, []Effect{SendReady{s.Candidate, s.Full}}
			}),
		when("RejectMissed", missed, func(s Unanswered, e Rejected) bool { return e.Candidate == s.Candidate && s.Missed },
			func(s Unanswered, _ Rejected) (Playing, []Effect) {
				return Playing{s.Resp}, []Effect{SendReady{s.Candidate, s.Full}}
			}),
		when("Reject", same, func(s Unanswered, e Rejected) bool { return e.Candidate == s.Candidate },
			func(s Unanswered, _ Rejected) (Playing, []Effect) { return Playing{s.Resp}, nil }),
		when("Begin", newer, func(s Unanswered, e Began) bool { return e.Resp > s.Resp },
			func(_ Unanswered, e Began) (Playing, []Effect) { return Playing(e), nil }),
		when("Confirm", known, func(s Unanswered, e Confirmed) bool { return e.Resp >= s.Resp },
			func(_ Unanswered, e Confirmed) (Silent, []Effect) { return cut(e) }),
		on("Close", func(Unanswered, Close) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore("the server may have to play its end again", Unanswered{}, Ended{}),
	ignore("the deadline of the candidate has passed", Unanswered{}, Sustained{}, VoiceEnded{}, Expired{}),
	ignore(older, Unanswered{}, Began{}, Confirmed{}),
	ignore(other, Unanswered{}, Acked{}, Passed{}, Rejected{}),

	ignore("the connection is over", Closed{}, Began{}, Ended{}, Onset{}, Sustained{}, VoiceEnded{}, Acked{}, Passed{},
		Rejected{}, Confirmed{}, Expired{}, Close{}),
)

// duck lowers the level first, because that must be quick. The message to the server comes after it.
func duck(to Ducked, e Onset) (Ducked, []Effect) {
	return to, []Effect{Duck{}, SendCandidate{e.Candidate, to.Resp, e.At}, ArmDeadline{e.Candidate}}
}

// goBack raises the level, and asks the server to go back to where the user has missed something.
func goBack(s Ducked) (Playing, []Effect) {
	return Playing{s.Resp}, []Effect{Restore{}, SendReady{s.Candidate, s.Full}}
}

// restore raises the level before SendReady, because the server may send audible audio as soon as it gets SendReady.
func restore(s Ducked) (Restored, []Effect) {
	return Restored{s.Resp, s.Candidate}, []Effect{Restore{}, SendReady{s.Candidate, s.Full}}
}

// cut mutes the response and reports how far it was played.
func cut(e Confirmed) (Silent, []Effect) {
	return Silent{e.Resp, true}, []Effect{Mute{e.Resp}, SendHeard(e)}
}

// cutLowered mutes the response first, and then raises the level for the next response.
func cutLowered(e Confirmed) (Silent, []Effect) {
	return Silent{e.Resp, true}, []Effect{Mute{e.Resp}, Restore{}, SendHeard(e)}
}
