package compaction

// The states, events and effects of the machine.

// State is one of Idle, Running, Terminated. Gen is the number of the newest run, so that the machine recognises a late report of an
// older one.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Idle: no run goes on, and no item was appended since the last one.
	Idle struct{ Gen uint32 }
	// Running: run Gen makes a summary. Again: something was appended since it began.
	Running struct {
		Gen   uint32
		Again bool
	}
	// Terminated absorbs everything.
	Terminated struct{}
)

// Event is one of Trigger, Finished, Shutdown.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Trigger: an item was appended.
	Trigger struct{}
	// Finished: run Gen has ended, with a summary or without.
	Finished struct{ Gen uint32 }
	// Shutdown: the session ends.
	Shutdown struct{}
)

// Effect is one of Start, Apply, Cancel.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Start begins run Gen on the conversation as it is now.
	Start struct{ Gen uint32 }
	// Apply lets the model read the summary of run Gen, if there is one, in place of the items that the run has read.
	Apply struct{ Gen uint32 }
	// Cancel stops run Gen. The driver drops its result.
	Cancel struct{ Gen uint32 }
)
