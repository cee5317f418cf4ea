package run

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("Start", "the next attempt", func(s Queued, e TurnStarted) bool { return e.Attempt == s.Attempt+1 }, start),
		on("Cancel", cancel[Queued]),
		on("Reconcile", reconcile[Queued]),
		on("AnswerReply", answer[Queued]),
	},
	ignore("it is not the next attempt", Queued{}, TurnStarted{}),
	ignore("no turn runs", Queued{}, TurnNeedsInput{}, TurnSucceeded{}, TurnFailed{}, Resume{}),
	ignore("no question is pending", Queued{}, Timeout{}, Preserve{}),

	[]row{
		when("DecideAlone", "the turn that runs, and the policy is auto", alone,
			func(s Running, e TurnNeedsInput) (Running, []Effect) { return s, []Effect{DecideAlone{e.Attempt}} }),
		when("Ask", "the turn that runs", func(s Running, e TurnNeedsInput) bool { return e.Attempt == s.Attempt }, ask),
		when("Succeed", "the turn that runs", func(s Running, e TurnSucceeded) bool { return e.Attempt == s.Attempt }, succeed),
		when("Fail", "the turn that runs", func(s Running, e TurnFailed) bool { return e.Attempt == s.Attempt }, fail),
		on("Cancel", cancel[Running]),
		on("Reconcile", reconcile[Running]),
		when("Resume", "the next attempt", func(s Running, e Resume) bool { return e.Attempt == s.Attempt+1 }, resume),
		on("AnswerReply", answer[Running]),
	},
	ignore("it belongs to a turn that does not run", Running{}, TurnNeedsInput{}, TurnSucceeded{}, TurnFailed{}),
	ignore("it is claimed already", Running{}, TurnStarted{}),
	ignore("it is not the next attempt", Running{}, Resume{}),
	ignore("no question is pending", Running{}, Timeout{}, Preserve{}),

	[]row{
		when("Accept", "it answers the pending question", func(s WaitingUser, e Reply) bool { return e.Interaction == s.Pending }, accept),
		on("AnswerReply", answer[WaitingUser]),
		when("Decide", "it is the pending question, and no reply is required",
			func(s WaitingUser, e Timeout) bool { return e.Interaction == s.Pending && s.Policy == AutoDecide }, decide),
		when("Preserve", "the interaction and the session belong to the run", valid,
			func(s WaitingUser, _ Preserve) (WaitingUser, []Effect) { return s, arm(s) }),
		on("Cancel", cancel[WaitingUser]),
		on("Reconcile", reconcile[WaitingUser]),
	},
	ignore("it is not the pending question, or a reply is required", WaitingUser{}, Timeout{}),
	ignore("the interaction or the session does not belong to the run", WaitingUser{}, Preserve{}),
	ignore("it waits for the user", WaitingUser{},
		TurnStarted{}, TurnNeedsInput{}, TurnSucceeded{}, TurnFailed{}, Resume{}),

	over[Succeeded](), over[Failed](), over[Canceled](),
)

// over returns the rows of a state in which the run has ended. No event changes it, but a reply still gets an answer.
func over[From State]() []row {
	var ended From
	rows := ignore("the run is over", ended, TurnStarted{}, TurnNeedsInput{}, TurnSucceeded{}, TurnFailed{},
		Timeout{}, Cancel{}, Preserve{}, Reconcile{}, Resume{})
	return append([]row{on("AnswerReply", answer[From])}, rows...)
}
