package continuation

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	nothing  = "nothing goes on"
	notDue   = "no answer is due"
	begun    = "an answer has begun already"
	says     = "the server writes it"
	waits    = "a turn or request waited for its response"
	question = "the server asks it again"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("KeepDue", "the answer is due already", func(_ Quiet, e Kept) bool { return e.Due },
			func(_ Quiet, e Kept) (Due, []Effect) { return Due{Of: 1, Heard: e.Heard}, nil }),
		on("Keep", func(Quiet, Kept) (Answered, []Effect) { return Answered{Of: 1}, nil }),
		when("Answer", "a model writes it", func(_ Quiet, e Created) bool { return !e.Says },
			func(_ Quiet, e Created) (Answered, []Effect) { return Answered{Of: e.Of}, nil }),
		on("End", end[Quiet]),
		when("TakeOverQueue", waits, queued, takeOverQueue[Quiet]),
		on("TakeOver", func(_ Quiet, e TakenOver) (Quiet, []Effect) { return Quiet{}, tell(e) }),
	},
	ignore(question, Quiet{}, Created{}),
	ignore(nothing, Quiet{}, Called{}, Cancelled{}, Settled{}, Turn{}, Free{}),

	[]row{
		when("Ask", says, func(_ Answered, e Created) bool { return e.Says }, func(Answered, Created) (Quiet, []Effect) { return Quiet{}, nil }),
		when("AnswerBehind", "the answer before still plays", func(_ Answered, e Created) bool { return e.Behind },
			func(s Answered, e Created) (Answered, []Effect) { return Answered{e.Of, s.Of}, nil }),
		on("Answer", func(_ Answered, e Created) (Answered, []Effect) { return Answered{Of: e.Of}, nil }),
		on("Call", func(Answered, Called) (Quiet, []Effect) { return Quiet{}, nil }),
		when("CancelNewest", "the answer before still plays", func(s Answered, _ Cancelled) bool { return s.Before != 0 },
			func(s Answered, _ Cancelled) (Answered, []Effect) { return Answered{Of: s.Before}, nil }),
		on("Cancel", func(Answered, Cancelled) (Quiet, []Effect) { return Quiet{}, nil }),
		on("End", end[Answered]),
		when("TakeOverQueue", waits, queued, takeOverQueue[Answered]),
		when("CutOff", "the user has not heard all of it", func(_ Answered, e TakenOver) bool { return e.Heard || e.Under && !e.Newest },
			func(s Answered, e TakenOver) (Due, []Effect) { return Due{Of: s.Of, Heard: e.Heard}, tell(e) }),
		on("TakeOver", func(_ Answered, e TakenOver) (Quiet, []Effect) { return Quiet{}, tell(e) }),
	},
	ignore(begun, Answered{}, Kept{}),
	ignore(notDue, Answered{}, Settled{}, Turn{}, Free{}),

	[]row{
		when("Replace", "a model writes it", func(_ Due, e Created) bool { return !e.Says },
			func(_ Due, e Created) (Answered, []Effect) { return Answered{Of: e.Of}, nil }),
		on("Cancel", func(Due, Cancelled) (Quiet, []Effect) { return Quiet{}, nil }),
		on("End", end[Due]),
		when("TakeOverQueue", waits, queued, func(s Due, e TakenOver) (Due, []Effect) { return Due{Heard: s.Heard || e.Heard}, tell(e) }),
		on("TakeOverAgain", func(s Due, e TakenOver) (Due, []Effect) { return Due{Of: s.Of, Heard: s.Heard || e.Heard}, tell(e) }),
		when("Settle", "the first time", func(s Due, _ Settled) bool { return !s.Ready },
			func(s Due, _ Settled) (Due, []Effect) { s.Ready = true; return s, nil }),
		on("GiveWay", func(Due, Turn) (Quiet, []Effect) { return Quiet{}, nil }),
		when("Continue", "the client is back", func(s Due, _ Free) bool { return s.Ready },
			func(s Due, _ Free) (Answered, []Effect) { return Answered{Of: s.Of}, []Effect{Continue{s.Of, s.Heard}} }),
	},
	ignore("the answer comes after it", Due{}, Created{}),
	ignore(begun, Due{}, Kept{}, Called{}),
	ignore("the client is back already", Due{}, Settled{}),
	ignore("the client is not back", Due{}, Free{}),
)

func end[S State](s S, e Lost) (S, []Effect) { return s, []Effect{End{e.Called}} }

// queued reports whether one response answers what waited for its first one, and everything before.
func queued[S State](_ S, e TakenOver) bool { return e.Queued && !e.Newest }

func takeOverQueue[S State](_ S, e TakenOver) (Due, []Effect) { return Due{Heard: e.Heard}, tell(e) }

// tell tells the client what is lost, and has the questions asked again.
func tell(e TakenOver) (out []Effect) {
	if e.Speech {
		out = append(out, ClearInput{})
	}
	if e.Words {
		out = append(out, FailTranscripts{})
	}
	return append(out, AskAgain{})
}
