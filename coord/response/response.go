package response

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

// ID names one response; 0 is none.
type ID = machine.Response

// Status is how a response ended.
type Status uint8

// The statuses. The last three are the protocol's "cancelled" with its reasons.
const (
	Completed       Status = iota + 1
	Incomplete             // the token limit or a content filter cut it off
	Failed                 // a stage of the pipeline failed
	TurnDetected           // cancelled by the user's speech
	ClientCancelled        // cancelled by the client
	SessionEnded           // cancelled by teardown
)

// String is the status's name in logs and stories.
func (s Status) String() string {
	switch s {
	case Completed:
		return "Completed"
	case Incomplete:
		return "Incomplete"
	case Failed:
		return "Failed"
	case TurnDetected:
		return "TurnDetected"
	case ClientCancelled:
		return "ClientCancelled"
	case SessionEnded:
		return "SessionEnded"
	}
	return "none"
}

// State is one of Idle, Active, Draining, Replacing, Terminating, Terminated.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Idle: no response is live, and no body runs.
	Idle struct{}
	// Active: ID is live (announced and not ended), and its body (the goroutine that generates it) runs.
	Active struct{ ID ID }
	// Draining: no response is live. The cancelled body of Old still runs.
	Draining struct{ Old ID }
	// Replacing: Next is live (announced); the cancelled body of Old still runs.
	// Invariant: Old != Next.
	Replacing struct{ Old, Next ID }
	// Terminating: no response is live or will be. The body of Old still runs.
	Terminating struct{ Old ID }
	// Terminated absorbs everything.
	Terminated struct{}
)

// Live returns the response that is announced and has no terminal yet, or 0.
func Live(s State) ID {
	switch s := s.(type) {
	case Active:
		return s.ID
	case Replacing:
		return s.Next
	case Idle, Draining, Terminating, Terminated:
	}
	return 0
}

// Event is one of Create, CreateByTurn, Cancel, BargeIn, BodyEnded, Shutdown.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Create: the client asks for a response. ID is fresh; Request names what the client asked.
	Create struct {
		ID      ID
		Request machine.Request
	}
	// CreateByTurn: a committed turn asks for a response, or a response that was lost to a false barge-in is created again. ID is
	// fresh; Interrupt is the session's interrupt_response; Request names the turn, or what the lost response was for.
	CreateByTurn struct {
		ID        ID
		Interrupt bool
		Request   machine.Request
	}
	// Cancel: the client cancels Target, or whatever is live when Target is 0.
	Cancel struct{ Target ID }
	// BargeIn: the user interrupts. The live response is cancelled.
	BargeIn struct{}
	// BodyEnded: the body of ID has returned; sent once a body, whatever the reason.
	BodyEnded struct {
		ID     ID
		Status Status
	}
	// Shutdown: the session ends.
	Shutdown struct{}
)

// Effect is one of EmitCreated, EmitTerminal, StartBody, CancelBody,
// RejectActive, RejectNotActive.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// EmitCreated announces ID: it is live from here on. Request is that of the Create or CreateByTurn.
	EmitCreated struct {
		ID      ID
		Request machine.Request
	}
	// EmitTerminal closes the open items of ID and sends response.done. No event about ID comes after it.
	EmitTerminal struct {
		ID     ID
		Status Status
	}
	// StartBody starts the goroutine that generates ID.
	StartBody struct{ ID ID }
	// CancelBody asks ID's goroutine to stop; it reports with BodyEnded.
	CancelBody struct{ ID ID }
	// RejectActive answers a create that came while another response is live.
	RejectActive struct{ ID ID }
	// RejectNotActive answers a Cancel for which no response is live.
	RejectNotActive struct{ Target ID }
)
