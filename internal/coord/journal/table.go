package journal

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	begunAlready = "it has begun already"
	notBegun     = "the log has not begun"
	nothingAsked = "the store was not asked for that"
	nothingWaits = "no event is withheld"
	known        = "it is recorded already"
	notWaiting   = "no such record waits"
	overAlready  = "the call is over"
	another      = "another server owns the call"
	ended        = "this server has ended its part"
	neverAgain   = "the log is gone"
	newRecord    = "a new record"
	everything   = "all records"
	someRecords  = "some records"
	notAll       = "not all records"
	stillWaits   = "the record waits"
)

// Table is the whole machine.
var Table = machine.Join(waiting, resting, writing, doubtful, broken, mending, off, finishing, ending,
	ignore(another, Fenced{}, Begin{}, Recorded{}, Stored{}, Conflict{}, Failed{}, Found{}, Taken{}, Gone{}, Late{}, Over{}, Stop{}),
	ignore(ended, Closed{}, Begin{}, Recorded{}, Stored{}, Conflict{}, Failed{}, Found{}, Taken{}, Gone{}, Late{}, Over{}, Stop{}))

var waiting = machine.Join(
	[]row{
		on("Begin", func(s Waiting, _ Begin) (Resting, []Effect) { return Resting{s.Recorded}, nil }),
		when("Pass", newRecord, func(s Waiting, e Recorded) bool { return e.Record > s.Recorded },
			func(_ Waiting, e Recorded) (Waiting, []Effect) { return Waiting{e.Record}, []Effect{Release{e.Record}} }),
	},
	ignore(known, Waiting{}, Recorded{}),
	[]row{
		on("Close", func(Waiting, Over) (Closed, []Effect) { return Closed{}, nil }),
		on("Stop", func(Waiting, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(notBegun, Waiting{}, Stored{}, Conflict{}, Failed{}, Found{}, Taken{}, Gone{}, Late{}),
)

var resting = machine.Join(
	[]row{
		when("Append", newRecord, func(s Resting, e Recorded) bool { return e.Record > s.Stored },
			func(s Resting, e Recorded) (Writing, []Effect) {
				return Writing{e.Record, s.Stored}, []Effect{Arm{s.Stored + 1}, Append{e.Record}}
			}),
	},
	ignore(known, Resting{}, Recorded{}),
	ignore(begunAlready, Resting{}, Begin{}),
	[]row{
		on("End", func(s Resting, _ Over) (Ending, []Effect) { return end(s.Stored) }),
		on("Stop", func(Resting, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	[]row{on("Fence", func(Resting, Taken) (Fenced, []Effect) { return fence() })},
	ignore(nothingAsked, Resting{}, Stored{}, Conflict{}, Failed{}, Found{}, Gone{}),
	ignore(nothingWaits, Resting{}, Late{}),
)

var writing = machine.Join(
	[]row{
		when("Withhold", newRecord, func(s Writing, e Recorded) bool { return e.Record > s.Recorded },
			func(s Writing, e Recorded) (Writing, []Effect) { s.Recorded = e.Record; return s, nil }),
	},
	ignore(known, Writing{}, Recorded{}),
	ignore(begunAlready, Writing{}, Begin{}),
	[]row{
		when("ReleaseAll", everything, func(s Writing, e Stored) bool { return e.To == s.Recorded },
			func(_ Writing, e Stored) (Resting, []Effect) { return Resting{e.To}, []Effect{Release(e)} }),
		when("ReleaseSome", someRecords, func(s Writing, e Stored) bool { return s.Stored < e.To && e.To < s.Recorded },
			func(s Writing, e Stored) (Writing, []Effect) { return more(s.Recorded, e.To) }),
	},
	ignore(notWaiting, Writing{}, Stored{}),
	[]row{
		on("DoubtConflict", func(s Writing, _ Conflict) (Doubtful, []Effect) { return Doubtful(s), []Effect{Look{}} }),
		on("DoubtFailure", func(s Writing, _ Failed) (Doubtful, []Effect) { return Doubtful(s), []Effect{Look{}} }),
		when("GiveUp", stillWaits, func(s Writing, e Late) bool { return e.Record > s.Stored },
			func(s Writing, _ Late) (Mending, []Effect) { return Mending{s.Recorded}, giveUp(s.Recorded) }),
	},
	ignore(notWaiting, Writing{}, Late{}),
	[]row{
		on("Finish", func(s Writing, _ Over) (Finishing, []Effect) { return Finishing(s), nil }),
		on("Stop", func(Writing, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	[]row{on("Fence", func(Writing, Taken) (Fenced, []Effect) { return fence() })},
	ignore(nothingAsked, Writing{}, Found{}, Gone{}),
)

var doubtful = machine.Join(
	[]row{
		when("Withhold", newRecord, func(s Doubtful, e Recorded) bool { return e.Record > s.Recorded },
			func(s Doubtful, e Recorded) (Doubtful, []Effect) { s.Recorded = e.Record; return s, nil }),
	},
	ignore(known, Doubtful{}, Recorded{}),
	ignore(begunAlready, Doubtful{}, Begin{}),
	[]row{
		when("FindAll", everything, func(s Doubtful, e Found) bool { return e.To == s.Recorded },
			func(_ Doubtful, e Found) (Resting, []Effect) { return Resting{e.To}, []Effect{Release(e)} }),
		when("FindSome", someRecords, func(s Doubtful, e Found) bool { return s.Stored < e.To && e.To < s.Recorded },
			func(s Doubtful, e Found) (Writing, []Effect) { return more(s.Recorded, e.To) }),
		when("FindNone", "none of them", func(s Doubtful, e Found) bool { return e.To == s.Stored },
			func(s Doubtful, _ Found) (Writing, []Effect) { return Writing(s), []Effect{Append{s.Recorded}} }),
		on("FindOther", func(s Doubtful, _ Found) (Mending, []Effect) {
			return Mending{s.Recorded}, append(giveUp(s.Recorded), AppendFull{})
		}),
		on("FindNothing", func(s Doubtful, _ Gone) (Off, []Effect) { return Off{s.Recorded}, giveUp(s.Recorded) }),
		on("Fence", func(Doubtful, Taken) (Fenced, []Effect) { return fence() }),
		on("LookAgain", func(s Doubtful, _ Failed) (Doubtful, []Effect) { return s, []Effect{Look{}} }),
		when("GiveUp", stillWaits, func(s Doubtful, e Late) bool { return e.Record > s.Stored },
			func(s Doubtful, _ Late) (Broken, []Effect) { return Broken{s.Recorded}, giveUp(s.Recorded) }),
	},
	ignore(notWaiting, Doubtful{}, Late{}),
	[]row{
		on("GiveUpAtTheEnd", func(s Doubtful, _ Over) (Closed, []Effect) { return Closed{}, giveUp(s.Recorded) }),
		on("Stop", func(Doubtful, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(nothingAsked, Doubtful{}, Stored{}, Conflict{}),
)

var broken = machine.Join(
	[]row{
		when("Pass", newRecord, func(s Broken, e Recorded) bool { return e.Record > s.Recorded },
			func(_ Broken, e Recorded) (Broken, []Effect) { return Broken{e.Record}, []Effect{Release{e.Record}} }),
	},
	ignore(known, Broken{}, Recorded{}),
	ignore(begunAlready, Broken{}, Begin{}),
	[]row{
		when("RestoreFound", everything, func(s Broken, e Found) bool { return e.To == s.Recorded },
			func(_ Broken, e Found) (Resting, []Effect) { return Resting{e.To}, []Effect{Restore{}} }),
		on("Mend", func(s Broken, _ Found) (Mending, []Effect) { return Mending(s), []Effect{AppendFull{}} }),
		on("FindNothing", func(s Broken, _ Gone) (Off, []Effect) { return Off(s), nil }),
		on("Fence", func(Broken, Taken) (Fenced, []Effect) { return fence() }),
		on("LookAgain", func(s Broken, _ Failed) (Broken, []Effect) { return s, []Effect{Look{}} }),
		on("Close", func(Broken, Over) (Closed, []Effect) { return Closed{}, nil }),
		on("Stop", func(Broken, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(nothingAsked, Broken{}, Stored{}, Conflict{}),
	ignore(nothingWaits, Broken{}, Late{}),
)

var mending = machine.Join(
	[]row{
		when("Pass", newRecord, func(s Mending, e Recorded) bool { return e.Record > s.Recorded },
			func(_ Mending, e Recorded) (Mending, []Effect) { return Mending{e.Record}, []Effect{Release{e.Record}} }),
	},
	ignore(known, Mending{}, Recorded{}),
	ignore(begunAlready, Mending{}, Begin{}),
	[]row{
		when("Restore", everything, func(s Mending, e Stored) bool { return e.To == s.Recorded },
			func(_ Mending, e Stored) (Resting, []Effect) { return Resting{e.To}, []Effect{Restore{}} }),
		when("MendAgain", notAll, func(s Mending, e Stored) bool { return e.To < s.Recorded },
			func(s Mending, _ Stored) (Mending, []Effect) { return s, []Effect{AppendFull{}} }),
	},
	ignore("no such record was made", Mending{}, Stored{}),
	[]row{
		on("DoubtConflict", func(s Mending, _ Conflict) (Broken, []Effect) { return Broken(s), []Effect{Look{}} }),
		on("DoubtFailure", func(s Mending, _ Failed) (Broken, []Effect) { return Broken(s), []Effect{Look{}} }),
		on("Close", func(Mending, Over) (Closed, []Effect) { return Closed{}, nil }),
		on("Stop", func(Mending, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	[]row{on("Fence", func(Mending, Taken) (Fenced, []Effect) { return fence() })},
	ignore(nothingAsked, Mending{}, Found{}, Gone{}),
	ignore(nothingWaits, Mending{}, Late{}),
)

var off = machine.Join(
	[]row{
		when("Pass", newRecord, func(s Off, e Recorded) bool { return e.Record > s.Recorded },
			func(_ Off, e Recorded) (Off, []Effect) { return Off{e.Record}, []Effect{Release{e.Record}} }),
	},
	ignore(known, Off{}, Recorded{}),
	ignore(begunAlready, Off{}, Begin{}),
	[]row{
		on("Close", func(Off, Over) (Closed, []Effect) { return Closed{}, nil }),
		on("Stop", func(Off, Stop) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(neverAgain, Off{}, Stored{}, Conflict{}, Failed{}, Found{}, Taken{}, Gone{}, Late{}),
)

var finishing = machine.Join(
	[]row{
		when("ReleaseAllAndEnd", everything, func(s Finishing, e Stored) bool { return e.To == s.Recorded },
			func(_ Finishing, e Stored) (Ending, []Effect) {
				next, effects := end(e.To)
				return next, append([]Effect{Release(e)}, effects...)
			}),
		when("ReleaseSome", someRecords, func(s Finishing, e Stored) bool { return s.Stored < e.To && e.To < s.Recorded },
			func(s Finishing, e Stored) (Finishing, []Effect) {
				next, effects := more(s.Recorded, e.To)
				return Finishing(next), effects
			}),
	},
	ignore(notWaiting, Finishing{}, Stored{}),
	[]row{
		on("Drop", func(Finishing, Conflict) (Closed, []Effect) { return Closed{}, nil }),
		on("GiveUpAtTheEnd", func(s Finishing, _ Failed) (Closed, []Effect) { return Closed{}, giveUp(s.Recorded) }),
		when("GiveUp", stillWaits, func(s Finishing, e Late) bool { return e.Record > s.Stored },
			func(s Finishing, _ Late) (Closed, []Effect) { return Closed{}, giveUp(s.Recorded) }),
	},
	ignore(notWaiting, Finishing{}, Late{}),
	[]row{on("Stop", func(Finishing, Stop) (Closed, []Effect) { return Closed{}, nil })},
	ignore(overAlready, Finishing{}, Begin{}, Recorded{}, Over{}),
	[]row{on("Fence", func(Finishing, Taken) (Fenced, []Effect) { return fence() })},
	ignore(nothingAsked, Finishing{}, Found{}, Gone{}),
)

var ending = machine.Join(
	[]row{
		when("Remove", "the end", func(s Ending, e Stored) bool { return e.To == s.Last },
			func(Ending, Stored) (Closed, []Effect) { return Closed{}, []Effect{Remove{}} }),
	},
	ignore(notWaiting, Ending{}, Stored{}),
	[]row{
		on("LeaveConflict", func(Ending, Conflict) (Closed, []Effect) { return Closed{}, nil }),
		on("LeaveFailure", func(Ending, Failed) (Closed, []Effect) { return Closed{}, nil }),
		when("LeaveLate", stillWaits, func(s Ending, e Late) bool { return e.Record >= s.Last },
			func(Ending, Late) (Closed, []Effect) { return Closed{}, nil }),
	},
	ignore(notWaiting, Ending{}, Late{}),
	[]row{on("Stop", func(Ending, Stop) (Closed, []Effect) { return Closed{}, nil })},
	ignore(overAlready, Ending{}, Begin{}, Recorded{}, Over{}),
	[]row{on("Fence", func(Ending, Taken) (Fenced, []Effect) { return fence() })},
	ignore(nothingAsked, Ending{}, Found{}, Gone{}),
)

// more releases the events up to the record to, and appends the rest.
func more(recorded, to Record) (Writing, []Effect) {
	return Writing{recorded, to}, []Effect{Release{to}, Arm{to + 1}, Append{recorded}}
}

// giveUp releases all events that are withheld, although their records may not be stored.
func giveUp(recorded Record) []Effect { return []Effect{Break{}, Release{recorded}} }

// end ends the log after the record stored.
func end(stored Record) (Ending, []Effect) {
	return Ending{stored + 1}, []Effect{Arm{stored + 1}, AppendEnd{stored + 1}}
}

// fence ends the session, because another server owns the call.
func fence() (Fenced, []Effect) { return Fenced{}, []Effect{Fence{}} }
