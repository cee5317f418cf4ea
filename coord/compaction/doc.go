// Package compaction keeps what a model reads of a conversation short enough. When the
// conversation is too long, a run makes a summary of its older items, and the model reads the
// summary in place of these items. One run goes on at a time. Items that are appended during a
// run cause another run.
//
// # Invariants
//
//   - SingleFlight: one run goes on at a time. The state and the monitor agree on it.
//   - NoneAfterTeardown: after the shutdown no run begins or goes on, and no summary is applied. Only the shutdown cancels a run, once.
//   - RememberedOnce: after a trigger during a run, one more run begins right after it. No run begins without a trigger.
//   - AppliedOnce: the summary of a run is applied once, when the run has finished, before the next run begins.
//   - GenGrows: every run has a new generation number, and the state has the newest one.
//   - StaleIsHarmless: the end of an older run changes nothing. Nor does any event after the end of the session.
//
// Liveness, if every run ends: OverflowIsEventuallyCompacted.
//
// # Contract with the driver
//
// The driver sends Trigger after every item that is appended, also during a response that
// calls tools many times. A run reads the conversation as it is when Start is performed. For
// each Start the driver sends one Finished with its generation number, also if the run has
// failed, unless a Cancel comes first. The machine ignores a Finished that comes after the
// Cancel. A run that finds the conversation short enough ends at once, without a summary.
// Apply replaces the items that the run has read, and no others. Without a summary, or if these
// items have changed meanwhile, Apply changes nothing; the next item causes another run.
//
// The driver is internal/call/conversation. The machine is not part of coord/session, because
// no other machine depends on it.
//
// # Where the rules come from
//
// Each rule prevents a defect: two runs replace the same items; a loop of tool calls makes the
// conversation too long for the model, because a trigger during a run was dropped; a summary
// is written into a conversation that has ended.
//
// # Where it departs from a simpler machine
//
// If triggers could be dropped, a flag would be enough. Running remembers that a trigger came,
// and not how many: the next run reads all items that were appended before it.
package compaction
