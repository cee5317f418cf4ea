package draft

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	noDraft = "no draft is at work"
	noBody  = "no body runs"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		on("Start", func(s Idle, e Likely) (Writing, []Effect) {
			return Writing{s.Gen + 1, e.Turn}, []Effect{Start{s.Gen + 1}}
		}),
		on("Begin", func(s Idle, _ Began) (Busy, []Effect) { return Busy(s), nil }),
		on("Shutdown", func(Idle, Shutdown) (Terminated, []Effect) { return Terminated{}, nil }),
	},
	ignore(noDraft, Idle{}, Resumed{}, Committed{}, Dropped{}, Failed{}),
	ignore(noBody, Idle{}, Over{}),

	[]row{
		on("End", func(s Busy, _ Over) (Idle, []Effect) { return Idle(s), nil }),
		on("Shutdown", func(Busy, Shutdown) (Terminated, []Effect) { return Terminated{}, nil }),
	},
	ignore("a body runs, and two answers at a time cost too much", Busy{}, Likely{}),
	ignore("a body runs already", Busy{}, Began{}),
	ignore(noDraft, Busy{}, Resumed{}, Committed{}, Dropped{}, Failed{}),

	[]row{
		on("StartAgain", func(s Writing, e Likely) (Writing, []Effect) {
			return Writing{s.Gen + 1, e.Turn}, []Effect{Stop{s.Gen}, Start{s.Gen + 1}}
		}),
		on("Resume", func(s Writing, _ Resumed) (Idle, []Effect) { return stop(s.Gen) }),
		when("Commit", "same turn", func(s Writing, e Committed) bool { return s.Turn == e.Turn },
			func(s Writing, _ Committed) (Waiting, []Effect) { return Waiting{s.Gen}, nil }),
		on("CommitOther", func(s Writing, _ Committed) (Idle, []Effect) { return stop(s.Gen) }),
		on("Drop", func(s Writing, _ Dropped) (Idle, []Effect) { return stop(s.Gen) }),
		when("Fail", "same draft", func(s Writing, e Failed) bool { return s.Gen == e.Gen },
			func(s Writing, _ Failed) (Idle, []Effect) { return stop(s.Gen) }),
		on("BeginOther", func(s Writing, _ Began) (Busy, []Effect) { return Busy{s.Gen}, []Effect{Stop{s.Gen}} }),
		on("Shutdown", func(s Writing, _ Shutdown) (Terminated, []Effect) { return Terminated{}, []Effect{Stop{s.Gen}} }),
	},
	ignore("it is an older draft", Writing{}, Failed{}),
	ignore(noBody, Writing{}, Over{}),

	[]row{
		when("Adopt", "same input", func(_ Waiting, e Began) bool { return e.Matches },
			func(s Waiting, _ Began) (Busy, []Effect) { return Busy{s.Gen}, []Effect{Adopt{s.Gen}} }),
		on("BeginOther", func(s Waiting, _ Began) (Busy, []Effect) { return Busy{s.Gen}, []Effect{Stop{s.Gen}} }),
		on("Drop", func(s Waiting, _ Dropped) (Idle, []Effect) { return stop(s.Gen) }),
		when("Fail", "same draft", func(s Waiting, e Failed) bool { return s.Gen == e.Gen },
			func(s Waiting, _ Failed) (Idle, []Effect) { return stop(s.Gen) }),
		on("Shutdown", func(s Waiting, _ Shutdown) (Terminated, []Effect) { return Terminated{}, []Effect{Stop{s.Gen}} }),
	},
	ignore("the draft of the turn before waits for its body", Waiting{}, Likely{}),
	ignore("the turn of the draft is committed", Waiting{}, Resumed{}, Committed{}),
	ignore("it is an older draft", Waiting{}, Failed{}),
	ignore(noBody, Waiting{}, Over{}),

	ignore("the session has ended", Terminated{}, Likely{}, Resumed{}, Committed{}, Dropped{}, Failed{}, Began{}, Over{}, Shutdown{}),
)

func stop(gen uint32) (Idle, []Effect) { return Idle{gen}, []Effect{Stop{gen}} }
