package remotecall

// The states, events and effects of the machine.

// State is one of Writing, Asking, Running, Over.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Writing: the model writes the arguments.
	Writing struct{}
	// Asking: the call waits for the user's approval.
	Asking struct{}
	// Running: the tool runs.
	Running struct{}
	// Over: the call has its outcome.
	Over struct{}
)

// Event is one of Complete, Answer, Ended, Cut, Lost.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Complete: the arguments are complete. Ask: the user has to approve the call.
	Complete struct{ Ask bool }
	// Answer is the user's answer to the request.
	Answer struct{ Approve bool }
	// Ended: the tool has ended, or its time is over.
	Ended struct{}
	// Cut: the response has ended before the arguments were complete.
	Cut struct{}
	// Lost: another server goes on with the conversation.
	Lost struct{}
)

// Effect is one of Request, Call, Deliver, Deny, Lose.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Request asks the user for approval.
	Request struct{}
	// Call calls the tool.
	Call struct{}
	// Deliver closes the call with the output or the error of the tool.
	Deliver struct{}
	// Deny closes the call: the user has not approved it.
	Deny struct{}
	// Lose closes the call: nobody knows what the tool has done.
	Lose struct{}
)
