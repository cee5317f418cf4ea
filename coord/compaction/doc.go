// Package compaction keeps a conversation within what a model can read: when it grows
// too long, a run makes a summary of its older part, which then takes their place. One
// run goes on at a time, and what is appended meanwhile is not forgotten.
//
// # Invariants
//
//   - SingleFlight: one run at a time, and the state knows which.
//   - NoneAfterTeardown: after the end no run begins, none is left going, nothing is replaced.
//   - RememberedOnce: a trigger while a run goes on begins one more run after it, however
//     many triggers there were; no run begins without a trigger of its own.
//   - AppliedOnce: a run's summary is applied once, when it has finished, and before the
//     next run begins: that one reads what is left.
//   - GenGrows: every run has a new generation.
//   - StaleIsHarmless: the end of an older run, and what comes after the end, change nothing.
//
// Liveness, where a run ends: OverflowIsEventuallyCompacted.
//
// # Contract with the driver
//
// Trigger comes after every item that is appended, so also within a response that calls
// tools again and again. Start takes the conversation as it is at that moment and owes
// one Finished with its generation, whether there is a summary or the run failed, unless
// a Cancel comes first; a Finished that is under way then is late and ignored. A run
// that finds the conversation short enough finishes at once and has no summary. Apply
// replaces the items that the run read, and only those: items appended since then stay
// as they are. Where there is no summary, Apply changes nothing; the next item triggers
// again.
//
// The machine has no driver yet and is not part of coord/session.
//
// # Where the rules come from
//
// They are what goes wrong without them: two runs that replace the same items, a tool
// loop that outgrows the model because the trigger came while a run was going on and
// was dropped, a summary that is written into a conversation that has ended.
//
// # Where it departs from a simpler machine
//
// A flag that says busy would do if triggers could be dropped. Running remembers one of
// them, and no count: a run that begins later reads all that was appended before.
package compaction
