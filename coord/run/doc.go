// Package run is the canonical life of one piece of agent work: queued, running,
// waiting for the user, and one of three ends. A worker claims a queued run; each
// claim is an attempt. A turn that needs the user's input leaves the worker, and the
// reply, or where the policy allows it a time-out, queues the run again.
//
// # Invariants
//
//   - OneTerminal: a run ends once, and what has ended never changes.
//   - ResultComesWithTerminal: a terminal status and its result are stored in one write.
//   - WaitsOnlyForAQuestion: waiting_user has a pending interaction, cleared on leaving.
//   - OneResumeWins: a question is resolved once, by the reply or by the time-out.
//   - EveryReplyIsAnswered: a reply that is not what is asked, or comes twice, is
//     answered and not applied.
//   - NobodyDecidesForTheUser: no time-out where the user's reply is required.
//   - AutoNeverWaits: auto is a policy over the same machine that never enters waiting_user.
//   - AttemptsOnlyGrow: one by one, when a worker claims the run.
//   - SeqIsContiguous: what is published is numbered without a gap.
//   - EveryChangeIsTold: each change of the status is one conversation.state.changed.
//   - CauseComesFirst: the reply or the time-out is published before the change it causes.
//   - StaleIsHarmless: reports of older attempts and late timers change nothing.
//   - AbandonedTurnIsStopped: a turn whose run is taken from it is told to leave off.
//   - TimeoutIsArmed: where the run may decide by itself, it will, also after a restart.
//
// Liveness, where a worker claims what is queued, a turn reports, and a time-out that
// was armed comes: QueuedIsClaimed, RunningReports, AutoDecideEndsTheWait.
//
// # Contract with the driver
//
// The state is stored with each step, and compared with what it was: of two workers
// that claim the same attempt one wins. Interactions are fresh and count up, a Result
// is stored before the event that names it, and neither is 0. ArmTimeout may be
// performed twice; its deadline counts from the question. After a restart a queued
// run stays as it is and is claimed again; a running one whose steps can be resumed
// gets Resume, any other one Reconcile; a waiting one gets Preserve where its
// interaction and session are valid, else Reconcile. At is the driver's clock.
//
// contract.json has states, transitions and the schemas of what is published. It is
// generated from the table (go generate) and compared with it by the tests.
//
// # Where the rules come from
//
// They are those of a runtime whose canonical states, triggers and payload fields are
// one contract for code, protocol and tests. The names of states, events and
// published effects are the contract's own, so that nothing has to translate them.
//
// # Where it departs from a simpler machine
//
// Attempts fence: the report of a worker that was thought dead does not end a run
// that another one has taken over. The newest interaction is remembered beyond its
// resolution, so that a duplicate reply gets a true answer. A turn that asks although
// the policy is auto is told to decide alone, instead of being ignored.
package run
