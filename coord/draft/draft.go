package draft

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

// State is one of Idle, Busy, Writing, Waiting, Terminated. Gen is the number of the newest draft.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Idle: no draft is at work, and no body runs.
	Idle struct{ Gen uint32 }
	// Busy: the body of a response runs.
	Busy struct{ Gen uint32 }
	// Writing: draft Gen is at work for turn Turn, whose end is likely.
	Writing struct {
		Gen  uint32
		Turn machine.Turn
	}
	// Waiting: the turn of draft Gen is committed. The draft goes on, and waits for the body of the response.
	Waiting struct{ Gen uint32 }
	// Terminated absorbs everything.
	Terminated struct{}
)

// Event is one of Likely, Resumed, Committed, Dropped, Failed, Began, Over, Shutdown.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Likely: the end of turn Turn is likely, and its text is new.
	Likely struct{ Turn machine.Turn }
	// Resumed: the user speaks again in the open turn.
	Resumed struct{}
	// Committed: turn Turn has become an item.
	Committed struct{ Turn machine.Turn }
	// Dropped: the turn is dropped, or no response will answer it.
	Dropped struct{}
	// Failed: draft Gen has failed.
	Failed struct{ Gen uint32 }
	// Began: the body of a response begins. Matches: its input is what the newest draft has read.
	Began struct{ Matches bool }
	// Over: the body of the response has ended.
	Over struct{}
	// Shutdown: the session ends.
	Shutdown struct{}
)

// Effect is one of Start, Stop, Adopt.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Start begins draft Gen with the conversation and the present text of the open turn.
	Start struct{ Gen uint32 }
	// Stop ends draft Gen. The driver forgets everything that it has made.
	Stop struct{ Gen uint32 }
	// Adopt gives draft Gen to the body that begins.
	Adopt struct{ Gen uint32 }
)
