package synthesis

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		on("Enqueue", func(s Open, e Enqueue) (Open, []Effect) { return s, []Effect{Say(e)} }),
		on("Finish", func(Open, Finish) (Closing, []Effect) { return Closing{}, []Effect{CloseQueue{}} }),
		on("Cancel", func(Open, Cancel) (Closing, []Effect) { return Closing{}, []Effect{StopWorker{}} }),
		on("ExitEarly", exited[Open]),
		on("RefuseLate", refuse[Closing]),
		on("CancelRest", func(s Closing, _ Cancel) (Closing, []Effect) { return s, []Effect{StopWorker{}} }),
		on("Exit", exited[Closing]),
		on("RefuseLate", refuse[Closed]),
	},
	ignore("the worker was told already", Closing{}, Finish{}),
	ignore("it has ended", Closed{}, Finish{}, Cancel{}, WorkerExited{}),
)

// refuse answers a clause that came after the end.
func refuse[S State](s S, e Enqueue) (S, []Effect) { return s, []Effect{Refuse(e)} }

// exited ends the machine after the worker.
func exited[S State](S, WorkerExited) (Closed, []Effect) { return Closed{}, []Effect{Wake{}} }
