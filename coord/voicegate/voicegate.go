package voicegate

// The states, events and effects of the machine.

// State is one of Waiting, Resolving, Admitted, Refused.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Waiting: the turn is not committed.
	Waiting struct{}
	// Resolving: the back end was asked. First: the session asks until one turn is recognised, and then trusts all.
	Resolving struct{ First bool }
	// Admitted: the turn may reach the model.
	Admitted struct{}
	// Refused: nothing of the turn may reach the model.
	Refused struct{}
)

func (Waiting) state()   {}
func (Resolving) state() {}
func (Admitted) state()  {}
func (Refused) state()   {}

// Name is the state's name in diagrams, logs and the spec.
func (Waiting) Name() string   { return "Waiting" }
func (Resolving) Name() string { return "Resolving" }
func (Admitted) Name() string  { return "Admitted" }
func (Refused) Name() string   { return "Refused" }

// Event is one of Ask, Matched, Mismatched, Failed, Expired, Shutdown.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Ask: the turn is committed. First: the session asks until one turn is recognised. Trusted: that has happened.
	Ask struct{ First, Trusted bool }
	// Matched: the back end has recognised an authorised person.
	Matched struct{}
	// Mismatched: the back end has heard somebody else, or too little speech.
	Mismatched struct{}
	// Failed: the back end has failed.
	Failed struct{}
	// Expired: the deadline has come.
	Expired struct{}
	// Shutdown: the turn is given up, or the session ends.
	Shutdown struct{}
)

func (Ask) event()        {}
func (Matched) event()    {}
func (Mismatched) event() {}
func (Failed) event()     {}
func (Expired) event()    {}
func (Shutdown) event()   {}

// Name is the event's name in diagrams, logs and the spec.
func (Ask) Name() string        { return "Ask" }
func (Matched) Name() string    { return "Matched" }
func (Mismatched) Name() string { return "Mismatched" }
func (Failed) Name() string     { return "Failed" }
func (Expired) Name() string    { return "Expired" }
func (Shutdown) Name() string   { return "Shutdown" }

// Effect is one of Verify, Admit, Refuse, Trust.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Verify asks the back end who speaks, and starts the deadline.
	Verify struct{}
	// Admit lets the turn reach the model.
	Admit struct{}
	// Refuse removes the turn from the conversation.
	Refuse struct{}
	// Trust admits all later turns of the session without a question.
	Trust struct{}
)

func (Verify) effect() {}
func (Admit) effect()  {}
func (Refuse) effect() {}
func (Trust) effect()  {}

// Name is the effect's name in logs and the spec.
func (Verify) Name() string { return "Verify" }
func (Admit) Name() string  { return "Admit" }
func (Refuse) Name() string { return "Refuse" }
func (Trust) Name() string  { return "Trust" }
