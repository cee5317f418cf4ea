// Package synthesis is the speech of one reply: clauses go in while the text is still
// being made, a worker says them one after another, and whoever waits for the end is
// woken. Each reply's body has a machine of its own.
//
// # Invariants
//
//   - WakeOnce: whoever waits is woken once, when the worker has ended and not before.
//   - Monotonic: open, closing, closed, and never back.
//   - NothingSaidAfterClose: after the end nothing more is given to the worker.
//   - EveryClauseIsAnswered: a clause is said or refused with an error, never dropped in silence.
//   - WorkerIsTold: a worker that lives is told once that the text has ended, and of every cancel.
//
// Liveness, where a worker that is told to ends: SynthesisEnds.
//
// # Contract with the driver
//
// Clauses count up. Say is performed in order and may wait in a bounded queue.
// CloseQueue and StopWorker owe one WorkerExited; so does a worker that ends early,
// broken or not. StopWorker may come twice. Wake comes after it, exactly once: waiting
// twice is harmless, since the machine remembers that it has ended.
//
// # Where the rules come from
//
// They are what goes wrong without them: a clause that is enqueued after the end and
// waited for without end, two waiters of which one is woken, a worker that has died
// and is still fed.
//
// # Where it departs from a simpler machine
//
// A closed flag would do if the worker ended at once. Closing exists because it still
// says what it has; that lies between refusing new clauses and being done.
package synthesis
