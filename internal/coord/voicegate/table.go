package voicegate

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	notAsked = "the back end was not asked"
	decided  = "the verdict stands"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("AdmitTrusted", "trusted", func(_ Waiting, e Ask) bool { return e.First && e.Trusted },
			func(Waiting, Ask) (Admitted, []Effect) { return Admitted{}, []Effect{Admit{}} }),
		on("Ask", func(_ Waiting, e Ask) (Resolving, []Effect) { return Resolving{e.First}, []Effect{Verify{}} }),
		on("Shutdown", func(Waiting, Shutdown) (Refused, []Effect) { return refuse() }),
	},
	ignore(notAsked, Waiting{}, Matched{}, Mismatched{}, Failed{}, Expired{}),

	[]row{
		when("AdmitFirst", "first turn", func(s Resolving, _ Matched) bool { return s.First },
			func(Resolving, Matched) (Admitted, []Effect) { return Admitted{}, []Effect{Trust{}, Admit{}} }),
		on("Admit", func(Resolving, Matched) (Admitted, []Effect) { return Admitted{}, []Effect{Admit{}} }),
		on("RefuseOther", func(Resolving, Mismatched) (Refused, []Effect) { return refuse() }),
		on("RefuseFailed", func(Resolving, Failed) (Refused, []Effect) { return refuse() }),
		on("RefuseLate", func(Resolving, Expired) (Refused, []Effect) { return refuse() }),
		on("Shutdown", func(Resolving, Shutdown) (Refused, []Effect) { return refuse() }),
	},
	ignore("it is asked already", Resolving{}, Ask{}),

	ignore(decided, Admitted{}, Ask{}, Matched{}, Mismatched{}, Failed{}, Expired{}, Shutdown{}),
	ignore(decided, Refused{}, Ask{}, Matched{}, Mismatched{}, Failed{}, Expired{}, Shutdown{}),
)

func refuse() (Refused, []Effect) { return Refused{}, []Effect{Refuse{}} }
