package generation

// The transitions of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	notAsked   = "no body was asked for"
	notRunning = "no body runs"
	begun      = "the body was asked for already"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		on("Ask", func(Announced, Ask) (Waiting, []Effect) { return Waiting{}, nil }),
		on("EndUnasked", func(Announced, Terminal) (Ended, []Effect) { return Ended{}, []Effect{Close{}} }),
	},
	ignore(notAsked, Announced{}, Begin{}, Refuse{}, Cancel{}, BodyOver{}),

	[]row{
		on("Begin", func(Waiting, Begin) (Running, []Effect) { return Running{}, []Effect{Run{}} }),
		on("Refuse", func(Waiting, Refuse) (Refused, []Effect) { return Refused{}, []Effect{ReportRefused{}} }),
		on("CancelWaiting", func(Waiting, Cancel) (Refused, []Effect) { return Refused{}, []Effect{ReportRefused{}} }),
		on("EndWaiting", func(Waiting, Terminal) (Draining, []Effect) { return Draining{}, []Effect{ReportRefused{}, Close{}} }),
	},
	ignore(begun, Waiting{}, Ask{}),
	ignore(notRunning, Waiting{}, BodyOver{}),

	[]row{
		on("Cancel", func(s Running, _ Cancel) (Running, []Effect) { return s, []Effect{Stop{}} }),
		on("Finish", func(Running, BodyOver) (Reported, []Effect) { return Reported{}, []Effect{ReportOver{}} }),
		on("End", func(Running, Terminal) (Draining, []Effect) { return Draining{}, []Effect{Close{}} }),
	},
	ignore(begun, Running{}, Ask{}, Begin{}, Refuse{}),

	[]row{
		on("FinishRefused", func(Refused, BodyOver) (Reported, []Effect) { return Reported{}, []Effect{ReportOver{}} }),
		on("EndRefused", func(Refused, Terminal) (Draining, []Effect) { return Draining{}, []Effect{Close{}} }),
	},
	ignore(begun, Refused{}, Ask{}, Begin{}, Refuse{}),
	ignore(notRunning, Refused{}, Cancel{}),

	[]row{
		on("EndReported", func(Reported, Terminal) (Ended, []Effect) { return Ended{}, []Effect{Close{}} }),
	},
	ignore(begun, Reported{}, Ask{}, Begin{}, Refuse{}),
	ignore(notRunning, Reported{}, Cancel{}, BodyOver{}),

	[]row{
		on("Drained", func(Draining, BodyOver) (Ended, []Effect) { return Ended{}, []Effect{ReportOver{}} }),
	},
	ignore("the response has ended", Draining{}, Ask{}, Begin{}, Refuse{}, Cancel{}, Terminal{}),
	ignore("the response has ended", Ended{}, Ask{}, Begin{}, Refuse{}, Cancel{}, BodyOver{}, Terminal{}),
)
