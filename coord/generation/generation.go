package generation

// The states, events and effects of the machine.

// State is one of Announced, Waiting, Running, Refused, Reported, Draining, Ended.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Announced: the client knows of the response. The body of the response before it still runs.
	Announced struct{}
	// Waiting: the body may begin. It waits for the transcripts that the model must read, and for reports of what was played.
	Waiting struct{}
	// Running: the body's goroutines run.
	Running struct{}
	// Refused: the body never began: its budget was spent, its input was too long, or it was cancelled while it waited.
	Refused struct{}
	// Reported: the body has ended, and the terminal event is due.
	Reported struct{}
	// Draining: the terminal event is announced, and the end of the body is not reported yet.
	Draining struct{}
	// Ended: nothing is left but what the far end plays. It absorbs everything.
	Ended struct{}
)

func (Announced) state() {}
func (Waiting) state()   {}
func (Running) state()   {}
func (Refused) state()   {}
func (Reported) state()  {}
func (Draining) state()  {}
func (Ended) state()     {}

// Name is the state's name in diagrams, logs and the spec.
func (Announced) Name() string { return "Announced" }
func (Waiting) Name() string   { return "Waiting" }
func (Running) Name() string   { return "Running" }
func (Refused) Name() string   { return "Refused" }
func (Reported) Name() string  { return "Reported" }
func (Draining) Name() string  { return "Draining" }
func (Ended) Name() string     { return "Ended" }

// Closed reports whether the terminal event of a response in state s is announced.
func Closed(s State) bool {
	switch s.(type) {
	case Draining, Ended:
		return true
	case Announced, Waiting, Running, Refused, Reported:
	}
	return false
}

// Event is one of Ask, Begin, Refuse, Cancel, BodyOver, Terminal.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Ask: the body may begin as soon as its input is complete.
	Ask struct{}
	// Begin: its input is complete, and it is within the budget.
	Begin struct{}
	// Refuse: its input is complete, and it may not begin.
	Refuse struct{}
	// Cancel: the body is not wanted any more.
	Cancel struct{}
	// BodyOver: the goroutines of the body have ended, or the driver has performed ReportRefused.
	BodyOver struct{}
	// Terminal: the response machine ends the response.
	Terminal struct{}
)

func (Ask) event()      {}
func (Begin) event()    {}
func (Refuse) event()   {}
func (Cancel) event()   {}
func (BodyOver) event() {}
func (Terminal) event() {}

// Name is the event's name in diagrams, logs and the spec.
func (Ask) Name() string      { return "Ask" }
func (Begin) Name() string    { return "Begin" }
func (Refuse) Name() string   { return "Refuse" }
func (Cancel) Name() string   { return "Cancel" }
func (BodyOver) Name() string { return "BodyOver" }
func (Terminal) Name() string { return "Terminal" }

// Effect is one of Run, Stop, ReportRefused, ReportOver, Close.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Run starts the body's goroutines.
	Run struct{}
	// Stop cancels the body's goroutines.
	Stop struct{}
	// ReportRefused asks the driver to send BodyOver after the current event, because the body never begins.
	ReportRefused struct{}
	// ReportOver tells the response machine that the body has ended.
	ReportOver struct{}
	// Close closes the open items and announces the end.
	Close struct{}
)

func (Run) effect()           {}
func (Stop) effect()          {}
func (ReportRefused) effect() {}
func (ReportOver) effect()    {}
func (Close) effect()         {}

// Name is the effect's name in logs and the spec.
func (Run) Name() string           { return "Run" }
func (Stop) Name() string          { return "Stop" }
func (ReportRefused) Name() string { return "ReportRefused" }
func (ReportOver) Name() string    { return "ReportOver" }
func (Close) Name() string         { return "Close" }
