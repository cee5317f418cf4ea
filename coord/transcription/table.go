package transcription

// The transitions of the machine: one row for each state and event.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

const (
	none  = "no stream is open"
	other = "it belongs to another turn"
	busy  = "a stream is open already"
	ended = "its audio has ended"
)

// Table is the whole machine: one stream of one turn. A session runs three of
// these machines (see the package comment).
var Table = machine.Join(
	[]row{
		on("OpenStream", func(_ Closed, e Open) (Opening, []Effect) { return Opening(e), []Effect{OpenStream(e)} }),
		on("Decode", func(_ Closed, e Decode) (Finalizing, []Effect) { return decode(e.Turn) }),
	},
	ignore(none, Closed{}, Ready{}, Refuse{}, EOU{}, Resumed{}, Finish{}, Done{}, Failed{}, Abandon{}, Shutdown{}),

	[]row{
		when("Stream", "same turn", func(s Opening, e Ready) bool { return s.Turn == e.Turn },
			func(s Opening, _ Ready) (Streaming, []Effect) { return Streaming{Turn: s.Turn}, nil }),
		when("Degrade", "same turn", func(s Opening, e Refuse) bool { return s.Turn == e.Turn },
			func(Opening, Refuse) (Unavailable, []Effect) { return Unavailable{}, []Effect{Degrade{}} }),
		when("Break", "same turn", func(s Opening, e Failed) bool { return s.Turn == e.Turn },
			func(Opening, Failed) (Closed, []Effect) { return Closed{}, nil }),
		when("Finish", "same turn", func(s Opening, e Finish) bool { return s.Turn == e.Turn },
			func(_ Opening, e Finish) (Finalizing, []Effect) { return finish(e) }),
		when("Abandon", "same turn", func(s Opening, e Abandon) bool { return s.Turn == e.Turn },
			func(s Opening, _ Abandon) (Closed, []Effect) { return Closed{}, []Effect{CloseStream(s)} }),
		on("Shutdown", func(s Opening, _ Shutdown) (Closed, []Effect) { return Closed{}, []Effect{CloseStream(s)} }),
	},
	ignore(busy, Opening{}, Open{}, Decode{}),
	ignore(other, Opening{}, Ready{}, Refuse{}, Failed{}, Finish{}, Abandon{}),
	ignore("the stream is not open yet", Opening{}, EOU{}, Resumed{}, Done{}),

	[]row{
		when("EndUtterance", "same turn", func(s Streaming, e EOU) bool { return s.Turn == e.Turn },
			func(s Streaming, _ EOU) (Streaming, []Effect) { return Streaming{s.Turn, true}, nil }),
		when("Resume", "same turn", func(s Streaming, e Resumed) bool { return s.Turn == e.Turn },
			func(s Streaming, _ Resumed) (Streaming, []Effect) { return Streaming{s.Turn, false}, nil }),
		when("Break", "same turn", func(s Streaming, e Failed) bool { return s.Turn == e.Turn },
			func(Streaming, Failed) (Closed, []Effect) { return Closed{}, nil }),
		when("BreakEarly", "same turn", func(s Streaming, e Done) bool { return s.Turn == e.Turn },
			func(s Streaming, _ Done) (Closed, []Effect) { return Closed{}, []Effect{CloseStream{s.Turn}} }),
		when("Finish", "same turn", func(s Streaming, e Finish) bool { return s.Turn == e.Turn },
			func(_ Streaming, e Finish) (Finalizing, []Effect) { return finish(e) }),
		when("Abandon", "same turn", func(s Streaming, e Abandon) bool { return s.Turn == e.Turn },
			func(_ Streaming, e Abandon) (Closed, []Effect) { return Closed{}, []Effect{CloseStream(e)} }),
		on("Shutdown", func(s Streaming, _ Shutdown) (Closed, []Effect) {
			return Closed{}, []Effect{CloseStream{s.Turn}}
		}),
	},
	ignore(busy, Streaming{}, Open{}, Decode{}),
	ignore(other, Streaming{}, EOU{}, Resumed{}, Failed{}, Done{}, Finish{}, Abandon{}),
	ignore("the stream is open already", Streaming{}, Ready{}, Refuse{}),

	[]row{
		when("Deliver", "same turn", func(s Finalizing, e Done) bool { return s.Turn == e.Turn },
			func(_ Finalizing, e Done) (Closed, []Effect) { return Closed{}, []Effect{DeliverText(e)} }),
		when("DecodeInstead", "same turn, live", func(s Finalizing, e Refuse) bool { return s.Turn == e.Turn && !s.Whole },
			func(s Finalizing, _ Refuse) (Finalizing, []Effect) { return decode(s.Turn) }),
		when("FailRefused", "same turn", func(s Finalizing, e Refuse) bool { return s.Turn == e.Turn },
			func(_ Finalizing, e Refuse) (Closed, []Effect) { return Closed{}, []Effect{DeliverFailure(e)} }),
		when("DecodeAgain", "same turn, live", func(s Finalizing, e Failed) bool { return s.Turn == e.Turn && !s.Whole },
			func(s Finalizing, _ Failed) (Finalizing, []Effect) { return decode(s.Turn) }),
		when("Fail", "same turn", func(s Finalizing, e Failed) bool { return s.Turn == e.Turn },
			func(_ Finalizing, e Failed) (Closed, []Effect) { return Closed{}, []Effect{DeliverFailure(e)} }),
		when("AbandonLate", "same turn", func(s Finalizing, e Abandon) bool { return s.Turn == e.Turn },
			func(s Finalizing, _ Abandon) (Closed, []Effect) { return giveUp(s) }),
		on("Shutdown", func(s Finalizing, _ Shutdown) (Closed, []Effect) { return giveUp(s) }),
	},
	ignore(busy, Finalizing{}, Open{}, Decode{}),
	ignore(other, Finalizing{}, Done{}, Refuse{}, Failed{}, Abandon{}),
	ignore(ended, Finalizing{}, Ready{}, EOU{}, Resumed{}, Finish{}),

	ignore("there is no live transcription", Unavailable{}, Open{}, Ready{}, Refuse{}, EOU{}, Resumed{}, Finish{},
		Decode{}, Done{}, Failed{}, Abandon{}, Shutdown{}),
)

func finish(e Finish) (Finalizing, []Effect) {
	return Finalizing{Turn: e.Turn}, []Effect{CloseInput(e)}
}

// decode turns to the audio in one piece, at most once a turn: a back end that
// has no live stream, or lost it, still gets the words.
func decode(t machine.Turn) (Finalizing, []Effect) {
	return Finalizing{Turn: t, Whole: true}, []Effect{DecodeWhole{t}}
}

func giveUp(s Finalizing) (Closed, []Effect) {
	return Closed{}, []Effect{CloseStream{s.Turn}, DeliverFailure{s.Turn}}
}
