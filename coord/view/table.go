package view

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

type row = machine.Row[State, Event, Effect]

// on, when and ignore are the functions of package machine with the types of this machine.
func on[From State, Ev Event, To State](action string, f func(From, Ev) To) row {
	return when(action, "", nil, f)
}

func when[From State, Ev Event, To State](action, guard string, holds func(From, Ev) bool, f func(From, Ev) To) row {
	return machine.When[State, Event](action, guard, holds, func(s From, e Ev) (To, []Effect) { return f(s, e), nil })
}

func ignore(why string, from State, on ...Event) []row {
	return machine.Ignore[State, Event, Effect](why, from, on...)
}

const (
	early   = "session.created comes first"
	another = "it belongs to another turn or response"
	answer  = "it answers an input, and does not change the session"
	nothing = "there is nothing that it could change"
	over    = "the session has ended"
)

// Next is the state after e. It is total, and allocates at most the state that it returns.
func Next(s State, e Event) State {
	next, _, _ := Table.Next(s, e)
	return next
}

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		on("Open", func(_ Closed, e Opened) Open { return Open{Interrupts: e.Interrupts, Answers: e.Answers} }),
		on("End", func(Closed, Ended) Over { return Over{} }),
	},
	ignore(early, Closed{}, Configured{}, SpeechStarted{}, SpeechStopped{}, Committed{}, Transcribed{}, Created{}, Done{},
		Started{}, Stopped{}, Cleared{}, Rejected{}, Refused{}, Candidate{}, Interrupt{}, Write{}, Commit{}, Ask{}, Cancel{}, Clear{}),

	[]row{
		on("Configure", func(s Open, e Configured) Open {
			s.Interrupts, s.Answers = e.Interrupts, e.Answers
			return s
		}),
		on("StartSpeech", func(s Open, e SpeechStarted) Open { s.Speech = e.Turn; return s }),
		when("StopSpeech", "same turn", func(s Open, e SpeechStopped) bool { return s.Speech == e.Turn },
			func(s Open, _ SpeechStopped) Open { s.Speech = 0; return s }),
		when("Await", "it is answered by itself", func(s Open, e Committed) bool { return s.Answers && !e.ByClient },
			func(s Open, e Committed) Open { s.Waiting = e.Turn; return s }),
		when("GiveUp", "no words in the turn that waits", func(s Open, e Transcribed) bool { return e.Empty && s.Waiting == e.Turn },
			func(s Open, _ Transcribed) Open { s.Waiting = 0; return s }),
		on("Create", func(s Open, e Created) Open { s.Live, s.Waiting = e.Resp, 0; return s }),
		when("Finish", "same response", func(s Open, e Done) bool { return s.Live == e.Resp },
			func(s Open, _ Done) Open { s.Live = 0; return s }),
		on("Sound", func(s Open, e Started) Open { s.Sound = e.Resp; return s }),
		when("FallSilent", "same response", func(s Open, e Stopped) bool { return s.Sound == e.Resp },
			func(s Open, _ Stopped) Open { s.Sound = 0; return s }),
		when("CutOff", "same response", func(s Open, e Cleared) bool { return s.Sound == e.Resp },
			func(s Open, _ Cleared) Open { s.Sound = 0; return s }),
		on("End", func(Open, Ended) Over { return Over{} }),
	},
	ignore("the session is announced already", Open{}, Opened{}),
	ignore("the server does not answer it by itself", Open{}, Committed{}),
	ignore("it has words, or does not wait", Open{}, Transcribed{}),
	ignore(another, Open{}, SpeechStopped{}, Done{}, Stopped{}, Cleared{}),
	ignore(answer, Open{}, Rejected{}, Refused{}),

	[]row{
		when("Suspect", "the agent may be interrupted", func(s Open, _ Candidate) bool {
			return s.Interrupts && s.Speech == 0 && s.busy()
		}, func(s Open, _ Candidate) Open { s.Interrupting = true; return s }),
		when("Interrupt", "the agent may be interrupted", func(s Open, _ Interrupt) bool { return s.Interrupts && s.busy() },
			func(s Open, _ Interrupt) Open {
				if s.Speech == 0 {
					s.Speech = ForeseenTurn
				}
				s.Live, s.Sound, s.Interrupting = 0, 0, false
				return s
			}),
		when("AwaitAnswer", "no turn waits and no response is live", func(s Open, _ Write) bool { return s.Waiting == 0 && s.Live == 0 },
			func(s Open, _ Write) Open { return s.awaiting() }),
		when("CommitTurn", "a turn is open, or may be", func(s Open, _ Commit) bool { return s.Speech != 0 || s.Interrupting },
			func(s Open, _ Commit) Open {
				s.Speech, s.Interrupting = 0, false
				if s.Interrupts { // a response that began during the turn answers an older turn
					s.Live, s.Sound = 0, 0
				}
				return s.awaiting()
			}),
		when("CommitBuffer", "no turn waits and no response is live", func(s Open, _ Commit) bool { return s.Waiting == 0 && s.Live == 0 },
			func(s Open, _ Commit) Open { return s.awaiting() }),
		when("ExpectResponse", "it is not refused", func(s Open, _ Ask) bool {
			return s.Live == 0 && (s.Waiting == 0 || s.Waiting == ForeseenTurn)
		}, func(s Open, _ Ask) Open { s.Live, s.Waiting = ForeseenResponse, 0; return s }),
		when("ExpectEnd", "a response is live", func(s Open, _ Cancel) bool { return s.Live != 0 },
			func(s Open, _ Cancel) Open { s.Live = 0; return s }),
		when("ExpectSilence", "a response plays", func(s Open, _ Clear) bool { return s.Sound != 0 },
			func(s Open, _ Clear) Open { s.Sound = 0; return s }),
	},
	ignore(nothing, Open{}, Candidate{}, Interrupt{}, Write{}, Commit{}, Ask{}, Cancel{}, Clear{}),

	ignore(over, Over{}, Opened{}, Configured{}, SpeechStarted{}, SpeechStopped{}, Committed{}, Transcribed{}, Created{}, Done{},
		Started{}, Stopped{}, Cleared{}, Rejected{}, Refused{}, Ended{}, Candidate{}, Interrupt{}, Write{}, Commit{}, Ask{}, Cancel{}, Clear{}),
)

// busy reports whether a response is live or plays, so that the user can interrupt it.
func (o Open) busy() bool { return o.Live != 0 || o.Sound != 0 }

// awaiting returns o with the prediction that the server will answer a turn, if no turn waits and no response is live.
func (o Open) awaiting() Open {
	if o.Waiting == 0 && o.Live == 0 {
		o.Waiting = ForeseenTurn
	}
	return o
}
