package continuation

// The states, events and effects of the machine.

// State is one of Quiet, Answered, Due. An answer has a number, from 1 on.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Quiet: nothing goes on after a kill.
	Quiet struct{}
	// Answered: the answer Of, the newest one, goes on after a kill if the user has not heard all of it. Before is the answer before, if that one still sounds; 0 for none.
	Answered struct{ Of, Before uint32 }
	// Due: a kill has cut off the answer Of, and it is to go on. Of is 0 if something waited for its first response. Heard: the user has heard the beginning of an answer.
	// Ready: the client is back, and has had time to say what it knows.
	Due struct {
		Of           uint32
		Heard, Ready bool
	}
)

// Event is one of Kept, Created, Called, Cancelled, Lost, TakenOver, Settled, Turn, Free.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Kept: the journal has an answer of the session before: the answer 1 of this one. It was due already, or not.
	Kept struct{ Due, Heard bool }
	// Created: a response of the conversation has begun: the answer Of. Says: it says words of the server. Behind: audio of the answer before still plays or waits.
	Created struct {
		Of           uint32
		Says, Behind bool
	}
	// Called: a call of a function of the client is complete in the newest answer. The client may have called the function.
	Called struct{}
	// Cancelled: the user or the client has ended the newest answer.
	Cancelled struct{}
	// Lost: a kill has cut off a response, in or out of the conversation. Called: it has called a function of the client.
	Lost struct{ Called bool }
	// TakenOver: this session goes on with the call.
	TakenOver struct {
		Speech bool // audio of the user is lost that was not committed
		Words  bool // transcripts are lost
		Newest bool // one of them is that of the newest message of the user
		Under  bool // an answer was under way or due
		Heard  bool // the user has heard an answer in part
		Queued bool // something waited for its first response
	}
	// Settled: the client is back, and has had time to say what it knows.
	Settled struct{}
	// Turn: the user has said something to which the session makes no response of its own.
	Turn struct{}
	// Free: nobody speaks, and no response is live or due.
	Free struct{}
)

// Effect is one of End, ClearInput, FailTranscripts, AskAgain, Continue.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// End ends the response of Lost, as completed or as cancelled.
	End struct{ Completed bool }
	// ClearInput tells the client that its audio is lost.
	ClearInput struct{}
	// FailTranscripts tells the client that transcripts are lost.
	FailTranscripts struct{}
	// AskAgain has the server ask its own questions again.
	AskAgain struct{}
	// Continue begins the response that goes on with the answer Of, as it was asked for; 0: as the session's settings say.
	Continue struct {
		Of    uint32
		Heard bool
	}
)
