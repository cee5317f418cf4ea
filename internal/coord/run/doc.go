// Package run is the machine for one piece of work that an agent does, for example a long
// task with tools. A run is queued, is running, waits for the user, or has ended: it has
// succeeded, failed or was canceled. A worker claims a queued run. Each claim is an attempt,
// and the worker's work on it is called a turn. If a turn needs the user's input, the worker
// gives the run back, and the run waits for the user. The user's reply queues the run again,
// and so does a time-out, if the run's policy allows it.
//
// # Invariants
//
//   - OneTerminal: a run ends once, and a run that has ended never changes. A reply to it is answered, and nothing else happens.
//   - ResultComesWithTerminal: the final state and its result are stored together, in one write.
//   - WaitsOnlyForAQuestion: waiting_user has a pending interaction, cleared on leaving.
//   - OneResumeWins: a question is resolved once, by the reply or by the time-out.
//   - EveryReplyIsAnswered: a reply to the pending question is accepted. Any other reply is answered and not applied.
//   - NobodyDecidesForTheUser: if the policy requires the user's reply, no time-out ends the wait.
//   - AutoNeverWaits: with the policy auto a turn that needs input decides by itself, and its run never waits.
//   - AttemptsOnlyGrow: the attempt grows by one when a worker claims the run, and never gets smaller.
//   - SeqIsContiguous: the published messages are numbered without a gap, and the state has the newest number.
//   - EveryChangeIsTold: a change of the state is published once, after the other messages of the step.
//   - CauseComesFirst: a reply or a time-out that changes the state is published right before the change.
//   - StaleIsHarmless: the report of a turn that does not run changes nothing. Nor does the time-out of a question that is not pending.
//   - AbandonedTurnIsStopped: a running turn is told to stop when its run is canceled, is given up, or is claimed by another worker.
//   - TimeoutIsArmed: if the policy allows it, a time-out is armed when the run begins to wait, and again after a restart.
//
// Liveness, if a worker claims every queued run, every turn reports, and every armed
// time-out comes: QueuedIsClaimed, RunningReports, AutoDecideEndsTheWait.
//
// # Contract with the driver
//
// The driver stores the state with each step, and only if the stored state is still the one
// that it has read. So if two workers claim the same attempt, one of them wins. The numbers
// of interactions (questions to the user) count up. The driver stores a Result before it
// sends the event that names it. Neither number is 0. ArmTimeout may be performed twice; its
// deadline counts from the question. After a restart, a queued run stays as it is and is
// claimed again. A running run whose steps can be resumed gets Resume. Any other running run
// gets Reconcile. A waiting run gets Preserve if its interaction and session are valid, and
// Reconcile otherwise. At is the time of the driver's clock.
//
// contract.json has the states, the transitions and the schemas of the published messages. It is
// generated from the table (go generate) and compared with it by the tests.
//
// # Where the rules come from
//
// They are the rules of a runtime for agents. Its states, events and message fields are one
// contract for code, protocol and tests. The machine uses the names of this contract, so
// nothing has to translate them.
//
// # Where it departs from a simpler machine
//
// Attempts have numbers, so that a late report of a worker that was taken for dead does not
// end a run that another worker has taken over. The state keeps the newest interaction after
// it was resolved, so that a second reply gets a true answer. If a turn asks a question
// although the policy is auto, it is told to decide alone; the question is not ignored.
package run
