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
	// Announced: the client knows of the response. The body of the response before it may still run.
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
