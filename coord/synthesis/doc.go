// Package synthesis is the machine for the speech of one response. The model writes text,
// which is cut into clauses (pieces of about a sentence). A worker turns one clause after
// another into speech. A goroutine that waits for the end of the speech is told when it
// comes. Each response has a machine of its own.
//
// # Invariants
//
//   - WakeOnce: Wake comes once, when the worker has ended.
//   - Monotonic: the states only go forward, and the state agrees with what the monitor has seen.
//   - NothingSaidAfterClose: after the end the worker gets no more clauses.
//   - EveryClauseIsAnswered: every clause is given to the worker or refused with an error.
//   - WorkerIsTold: a worker that runs is told once that the text has ended, and is told of every cancel.
//
// Liveness, if a worker ends after it is told to: SynthesisEnds.
//
// # Contract with the driver
//
// The numbers of clauses count up. The driver gives clauses to the worker in order, and may
// use a bounded queue. It sends one WorkerExited when the worker has ended: after CloseQueue,
// after StopWorker, or earlier if the worker fails. StopWorker may come twice. Wake comes
// after WorkerExited, exactly once.
//
// # Where the rules come from
//
// Each rule prevents a defect: a goroutine that waits for ever for a clause that came after
// the end; two goroutines that wait, of which only one is told; a worker that has ended and
// still gets clauses.
//
// # Where it departs from a simpler machine
//
// If the worker ended at once, a flag would be enough. Closing exists because the worker
// still synthesizes the clauses that it has, while new clauses are refused already.
package synthesis
