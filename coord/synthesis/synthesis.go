package synthesis

// The states, events and effects of the machine.

// State is one of Open, Closing, Closed. They only go forward (Monotonic).
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Open: the machine accepts clauses.
	Open struct{}
	// Closing: the machine accepts no more clauses. The worker still synthesizes those that it has.
	Closing struct{}
	// Closed: the worker has ended. It absorbs everything.
	Closed struct{}
)

// Rank returns the place of s in the order Open, Closing, Closed. It never gets smaller.
func Rank(s State) int {
	switch s.(type) {
	case Open:
		return 0
	case Closing:
		return 1
	case Closed:
	}
	return 2
}

// Event is one of Enqueue, Finish, Cancel, WorkerExited.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Enqueue: Clause is to be synthesized. The numbers of clauses count up.
	Enqueue struct{ Clause uint32 }
	// Finish: the text has ended. It may come twice.
	Finish struct{}
	// Cancel: the clauses that are not synthesized yet are no longer wanted.
	Cancel struct{}
	// WorkerExited: the worker has ended, for whatever reason.
	WorkerExited struct{}
)

// Effect is one of Say, Refuse, CloseQueue, StopWorker, Wake.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Say gives Clause to the worker.
	Say struct{ Clause uint32 }
	// Refuse reports an error: Clause came after the end.
	Refuse struct{ Clause uint32 }
	// CloseQueue tells the worker that no more clauses come.
	CloseQueue struct{}
	// StopWorker tells the worker to stop at once.
	StopWorker struct{}
	// Wake tells the goroutine that waits for the end of the speech, once.
	Wake struct{}
)
