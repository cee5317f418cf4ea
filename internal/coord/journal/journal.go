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

func (Waiting) state()   {}
func (Resting) state()   {}
func (Writing) state()   {}
func (Doubtful) state()  {}
func (Broken) state()    {}
func (Mending) state()   {}
func (Off) state()       {}
func (Finishing) state() {}
func (Ending) state()    {}
func (Fenced) state()    {}
func (Closed) state()    {}

// Name is the state's name in diagrams, logs and the spec.
func (Waiting) Name() string   { return "Waiting" }
func (Resting) Name() string   { return "Resting" }
func (Writing) Name() string   { return "Writing" }
func (Doubtful) Name() string  { return "Doubtful" }
func (Broken) Name() string    { return "Broken" }
func (Mending) Name() string   { return "Mending" }
func (Off) Name() string       { return "Off" }
func (Finishing) Name() string { return "Finishing" }
func (Ending) Name() string    { return "Ending" }
func (Fenced) Name() string    { return "Fenced" }
func (Closed) Name() string    { return "Closed" }

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

func (Begin) event()    {}
func (Recorded) event() {}
func (Stored) event()   {}
func (Conflict) event() {}
func (Failed) event()   {}
func (Found) event()    {}
func (Taken) event()    {}
func (Gone) event()     {}
func (Late) event()     {}
func (Over) event()     {}
func (Stop) event()     {}

// Name is the event's name in diagrams, logs and the spec.
func (Begin) Name() string    { return "Begin" }
func (Recorded) Name() string { return "Recorded" }
func (Stored) Name() string   { return "Stored" }
func (Conflict) Name() string { return "Conflict" }
func (Failed) Name() string   { return "Failed" }
func (Found) Name() string    { return "Found" }
func (Taken) Name() string    { return "Taken" }
func (Gone) Name() string     { return "Gone" }
func (Late) Name() string     { return "Late" }
func (Over) Name() string     { return "Over" }
func (Stop) Name() string     { return "Stop" }

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

func (Arm) effect()        {}
func (Append) effect()     {}
func (AppendFull) effect() {}
func (AppendEnd) effect()  {}
func (Look) effect()       {}
func (Release) effect()    {}
func (Break) effect()      {}
func (Restore) effect()    {}
func (Fence) effect()      {}
func (Remove) effect()     {}

// Name is the effect's name in logs and the spec.
func (Arm) Name() string        { return "Arm" }
func (Append) Name() string     { return "Append" }
func (AppendFull) Name() string { return "AppendFull" }
func (AppendEnd) Name() string  { return "AppendEnd" }
func (Look) Name() string       { return "Look" }
func (Release) Name() string    { return "Release" }
func (Break) Name() string      { return "Break" }
func (Restore) Name() string    { return "Restore" }
func (Fence) Name() string      { return "Fence" }
func (Remove) Name() string     { return "Remove" }
