package journal

// The states, events and effects of the machine.

// Record is the number of a record. The numbers of one owner count up from 1. 0 is none: the log then has at most the records of earlier owners and
// the claim of this one.
type Record uint64

// State is one of Waiting, Resting, Writing, Doubtful, Broken, Mending, Off, Finishing, Ending, Fenced, Closed.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Waiting: the client cannot reconnect yet. Nothing is written, and all events go out at once.
	Waiting struct{ Recorded Record }
	// Resting: everything up to Stored is in the log, and nothing waits.
	Resting struct{ Stored Record }
	// Writing: an append is under way. The events of the records after Stored wait.
	// Invariant: Stored < Recorded.
	Writing struct{ Recorded, Stored Record }
	// Doubtful: the outcome of an append is not known, and the newest entry of the log is being read. The events of the records after Stored wait.
	// Invariant: Stored < Recorded.
	Doubtful struct{ Recorded, Stored Record }
	// Broken: the call is not journalled, so all events go out at once. The newest entry of the log is being read.
	Broken struct{ Recorded Record }
	// Mending: as Broken, but an append is under way.
	Mending struct{ Recorded Record }
	// Off: the log is gone. The call goes on, is never journalled again, and cannot be taken over.
	Off struct{ Recorded Record }
	// Finishing: the call has ended in order, and the last records are being written.
	// Invariant: Stored < Recorded.
	Finishing struct{ Recorded, Stored Record }
	// Ending: the record that ends the log is being written. Its number is Last.
	Ending struct{ Last Record }
	// Fenced: another server owns the call.
	Fenced struct{}
	// Closed: this server has ended its part.
	Closed struct{}
)

// Event is one of Begin, Recorded, Stored, Conflict, Failed, Found, Taken, Gone, Late, Over, Stop.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Begin: the client can reconnect from now on, or this server has taken the call over.
	Begin struct{}
	// Recorded: the session has made the record Record. Its events are withheld.
	Recorded struct{ Record Record }
	// Stored: the append that was under way is stored. The log has everything up to the record To.
	Stored struct{ To Record }
	// Conflict: the append was refused, because the newest entry of the log is another one than expected.
	Conflict struct{}
	// Failed: the store did not answer, or could not do what was asked. An append may be stored nevertheless, also later.
	Failed struct{}
	// Found: the newest entry of the log is of this owner. The log has everything up to the record To.
	Found struct{ To Record }
	// Taken: the newest entry of the log is of another owner, or it ends the log. It may also come when the machine has not asked for the newest entry.
	Taken struct{}
	// Gone: the log has no entry.
	Gone struct{}
	// Late: the time that the events of Record may be withheld is over.
	Late struct{ Record Record }
	// Over: the call has ended in order. There will be no more records.
	Over struct{}
	// Stop: this server has nothing more to do with the call, for example because it stops. The call may be taken over.
	Stop struct{}
)

// Effect is one of Arm, Append, AppendFull, AppendEnd, Look, Release, Break, Restore, Fence, Remove.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Arm starts the time that the events of Record may be withheld. It counts from the moment at which the record was made.
	Arm struct{ Record Record }
	// Append appends one entry with the records that are not stored, up to To.
	Append struct{ To Record }
	// AppendFull appends one entry that stands for everything before it.
	AppendFull struct{}
	// AppendEnd appends the entry To, which ends the log: the call cannot be taken over any more.
	AppendEnd struct{ To Record }
	// Look reads the newest entry of the log; after a pause, if the store has just failed.
	Look struct{}
	// Release sends the events that are withheld of the records up to To.
	Release struct{ To Record }
	// Break says in the log of the server and in its metrics that the call is not journalled any more.
	Break struct{}
	// Restore says that it is journalled again.
	Restore struct{}
	// Fence drops the events that are withheld, and ends the session: it sends nothing more to anybody.
	Fence struct{}
	// Remove removes the log, which is ended.
	Remove struct{}
)
