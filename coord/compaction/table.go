package compaction

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const stale = "it belongs to an older run"

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		on("Start", func(s Idle, _ Trigger) (Running, []Effect) {
			return Running{Gen: s.Gen + 1}, []Effect{Start{s.Gen + 1}}
		}),
		on("Shutdown", func(Idle, Shutdown) (Terminated, []Effect) { return Terminated{}, nil }),
	},
	ignore(stale, Idle{}, Finished{}),

	[]row{
		when("Remember", "the first since the run began", func(s Running, _ Trigger) bool { return !s.Again },
			func(s Running, _ Trigger) (Running, []Effect) { return Running{s.Gen, true}, nil }),
		when("FinishAndStart", "same run, triggered since", func(s Running, e Finished) bool {
			return s.Gen == e.Gen && s.Again
		}, func(s Running, _ Finished) (Running, []Effect) {
			return Running{Gen: s.Gen + 1}, []Effect{Apply{s.Gen}, Start{s.Gen + 1}}
		}),
		when("Finish", "same run", func(s Running, e Finished) bool { return s.Gen == e.Gen },
			func(s Running, _ Finished) (Idle, []Effect) { return Idle{s.Gen}, []Effect{Apply{s.Gen}} }),
		on("Shutdown", func(s Running, _ Shutdown) (Terminated, []Effect) {
			return Terminated{}, []Effect{Cancel{s.Gen}}
		}),
	},
	ignore("another run will begin already", Running{}, Trigger{}),
	ignore(stale, Running{}, Finished{}),

	ignore("the session has ended", Terminated{}, Trigger{}, Finished{}, Shutdown{}),
)
