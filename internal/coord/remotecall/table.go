package remotecall

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("Ask", "needs approval", func(_ Writing, e Complete) bool { return e.Ask },
			func(Writing, Complete) (Asking, []Effect) { return Asking{}, []Effect{Request{}} }),
		on("Begin", func(Writing, Complete) (Running, []Effect) { return Running{}, []Effect{Call{}} }),
		on("Cut", func(Writing, Cut) (Over, []Effect) { return Over{}, nil }),
		on("Lose", func(Writing, Lost) (Over, []Effect) { return Over{}, []Effect{Lose{}} }),
	},
	ignore("nothing was asked or called yet", Writing{}, Answer{}, Ended{}),

	[]row{
		when("Approve", "approved", func(_ Asking, e Answer) bool { return e.Approve },
			func(Asking, Answer) (Running, []Effect) { return Running{}, []Effect{Call{}} }),
		on("Deny", func(Asking, Answer) (Over, []Effect) { return Over{}, []Effect{Deny{}} }),
	},
	ignore("the request stands", Asking{}, Cut{}, Lost{}),
	ignore("it is complete already, and no tool runs", Asking{}, Complete{}, Ended{}),

	[]row{
		on("End", func(Running, Ended) (Over, []Effect) { return Over{}, []Effect{Deliver{}} }),
		on("LoseOutcome", func(Running, Lost) (Over, []Effect) { return Over{}, []Effect{Lose{}} }),
	},
	ignore("the tool goes on", Running{}, Complete{}, Answer{}, Cut{}),

	ignore("the call has its outcome", Over{}, Complete{}, Answer{}, Ended{}, Cut{}, Lost{}),
)
