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
