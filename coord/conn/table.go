package conn

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Table is the whole machine. The end takes two steps, because the children need time to end.
var Table = machine.Join(
	[]row{
		when("OpenWithVAD", "VAD on", func(_ Connecting, e Opened) bool { return e.VAD },
			func(Connecting, Opened) (Live, []Effect) {
				return Live{VAD: true}, []Effect{AnnounceSession{}, StartVAD{}}
			}),
		on("Open", func(Connecting, Opened) (Live, []Effect) { return Live{}, []Effect{AnnounceSession{}} }),
		on("Close", func(_ Connecting, e Close) (Closing, []Effect) {
			return Closing(e), []Effect{StopChildren(e)}
		}),
	},
	ignore("the session is not open yet", Connecting{}, SetVAD{}, Lost{}, Restored{}, GraceExpired{}, ChildrenDone{}),

	[]row{
		when("StartVAD", "off to on", func(s Live, e SetVAD) bool { return !s.VAD && e.On },
			func(s Live, _ SetVAD) (Live, []Effect) { return Live{true, s.Gen}, []Effect{StartVAD{}} }),
		when("StopVAD", "on to off", func(s Live, e SetVAD) bool { return s.VAD && !e.On },
			func(s Live, _ SetVAD) (Live, []Effect) { return Live{false, s.Gen}, []Effect{StopVAD{}} }),
		on("KeepVAD", func(s Live, _ SetVAD) (Live, []Effect) { return s, nil }),
		on("Lose", func(s Live, _ Lost) (Interrupted, []Effect) {
			return Interrupted{s.VAD, s.Gen + 1}, []Effect{ArmGrace{s.Gen + 1}}
		}),
		on("Close", func(s Live, e Close) (Closing, []Effect) { return closing(s.VAD, e.Reason) }),
	},
	ignore("the session is announced already", Live{}, Opened{}),
	ignore("the transport is not lost", Live{}, Restored{}, GraceExpired{}),
	ignore("the children were not told to end", Live{}, ChildrenDone{}),

	[]row{
		when("StartVAD", "off to on", func(s Interrupted, e SetVAD) bool { return !s.VAD && e.On },
			func(s Interrupted, _ SetVAD) (Interrupted, []Effect) {
				return Interrupted{true, s.Gen}, []Effect{StartVAD{}}
			}),
		when("StopVAD", "on to off", func(s Interrupted, e SetVAD) bool { return s.VAD && !e.On },
			func(s Interrupted, _ SetVAD) (Interrupted, []Effect) {
				return Interrupted{false, s.Gen}, []Effect{StopVAD{}}
			}),
		on("KeepVAD", func(s Interrupted, _ SetVAD) (Interrupted, []Effect) { return s, nil }),
		on("Restore", func(s Interrupted, _ Restored) (Live, []Effect) { return Live(s), nil }),
		when("GiveUp", "same generation", func(s Interrupted, e GraceExpired) bool { return s.Gen == e.Gen },
			func(s Interrupted, _ GraceExpired) (Closing, []Effect) { return closing(s.VAD, GraceOver) }),
		on("Close", func(s Interrupted, e Close) (Closing, []Effect) { return closing(s.VAD, e.Reason) }),
	},
	ignore("the session is announced already", Interrupted{}, Opened{}),
	ignore("the transport is lost already", Interrupted{}, Lost{}),
	ignore("it belongs to an older timer", Interrupted{}, GraceExpired{}),
	ignore("the children were not told to end", Interrupted{}, ChildrenDone{}),

	[]row{
		on("Release", func(Closing, ChildrenDone) (Closed, []Effect) {
			return Closed{}, []Effect{ReleaseTransport{}, Forget{}}
		}),
	},
	ignore("the session ends", Closing{}, Opened{}, SetVAD{}, Lost{}, Restored{}, GraceExpired{}, Close{}),
	ignore("the session has ended", Closed{}, Opened{}, SetVAD{}, Lost{}, Restored{}, GraceExpired{}, Close{}, ChildrenDone{}),
)

// closing returns the state and the effects of the beginning of the end. vad says whether turn detection is on.
func closing(vad bool, why Reason) (Closing, []Effect) {
	if vad {
		return Closing{why}, []Effect{StopVAD{}, StopChildren{why}}
	}
	return Closing{why}, []Effect{StopChildren{why}}
}
