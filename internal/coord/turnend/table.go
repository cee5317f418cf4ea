package turnend

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	final = "no end is tentative"
	goes  = "the user goes on"
	other = "it belongs to another turn"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		on("End", func(_ Final, e Ended) (Tentative, []Effect) { return Tentative(e), []Effect{Arm(e)} }),
	},
	ignore(final, Final{}, Opened{}, Dropped{}, Worded{}, Expired{}, Fixed{}),

	[]row{
		on("GoOn", func(s Tentative, e Opened) (Continued, []Effect) { return Continued{Turn: s.Turn, Next: e.Turn}, nil }),
		when("Expire", "same turn", func(s Tentative, e Expired) bool { return s.Turn == e.Turn },
			func(s Tentative, _ Expired) (Final, []Effect) { return Final{}, []Effect{Settle(s)} }),
		on("Fix", func(s Tentative, _ Fixed) (Final, []Effect) { return Final{}, []Effect{Settle(s)} }),
	},
	ignore(other, Tentative{}, Dropped{}, Worded{}, Expired{}),
	ignore("it was not opened after the tentative end", Tentative{}, Ended{}),

	[]row{
		when("GoOnAgain", "the turn before has ended", func(s Continued, e Opened) bool { return s.Ended && s.Next != e.Turn },
			func(s Continued, e Opened) (Continued, []Effect) {
				return Continued{Turn: s.Next, Next: e.Turn}, []Effect{Settle{s.Turn}}
			}),
		when("EndNext", "same turn", func(s Continued, e Ended) bool { return s.Next == e.Turn && !s.Ended },
			func(s Continued, _ Ended) (Continued, []Effect) { return Continued{s.Turn, s.Next, true}, nil }),
		when("FallSilent", "same turn", func(s Continued, e Dropped) bool { return s.Next == e.Turn },
			func(s Continued, _ Dropped) (Tentative, []Effect) { return Tentative{s.Turn}, []Effect{Arm{s.Turn}} }),
		when("TakeBack", "it joins", func(s Continued, e Worded) bool { return s.Next == e.Turn && s.Ended && e.Joins },
			func(s Continued, _ Worded) (Tentative, []Effect) {
				return Tentative{s.Next}, []Effect{Join{s.Turn, s.Next}, Arm{s.Next}}
			}),
		when("StayApart", "same turn", func(s Continued, e Worded) bool { return s.Next == e.Turn && s.Ended },
			func(s Continued, _ Worded) (Tentative, []Effect) {
				return Tentative{s.Next}, []Effect{Settle{s.Turn}, Arm{s.Next}}
			}),
		on("Fix", func(s Continued, _ Fixed) (Final, []Effect) { return Final{}, []Effect{Settle{s.Turn}} }),
	},
	ignore("a turn is open already", Continued{}, Opened{}),
	ignore(other, Continued{}, Ended{}, Dropped{}, Worded{}),
	ignore(goes, Continued{}, Expired{}),
)
