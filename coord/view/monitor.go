package view

// The monitor of the machine. It keeps its own record of the server's events, and compares the state with it.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is the monitor's own record of what the server has said.
type Seen struct {
	Opened, Over        bool
	Speech, Waiting     machine.Turn
	Live, Sound         machine.Response
	Interrupts, Answers bool
	// Guessing: an input was replayed. From here on the state is a prediction, so the monitor no longer compares it with the record.
	Guessing bool
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	e, told := step.Event.(Told)
	if !told {
		g.Guessing = true
		return g
	}
	switch e := e.(type) {
	case Opened:
		if !g.Opened && !g.Over {
			g = Seen{Opened: true, Interrupts: e.Interrupts, Answers: e.Answers}
		}
	case Ended:
		g = Seen{Over: true}
	case Configured:
		if g.Opened {
			g.Interrupts, g.Answers = e.Interrupts, e.Answers
		}
	case SpeechStarted, SpeechStopped, Committed, Transcribed, Created, Done, Started, Stopped, Cleared, Rejected, Refused:
		if g.Opened {
			g = g.hear(e)
		}
	}
	return g
}

// hear returns the record after an event about a turn, a response or its audio.
func (g Seen) hear(e Told) Seen {
	switch e := e.(type) {
	case SpeechStarted:
		g.Speech = e.Turn
	case SpeechStopped:
		g.Speech = unless(g.Speech, e.Turn)
	case Committed:
		if g.Answers && !e.ByClient {
			g.Waiting = e.Turn
		}
	case Transcribed:
		if e.Empty {
			g.Waiting = unless(g.Waiting, e.Turn)
		}
	case Created:
		g.Live, g.Waiting = e.Resp, 0
	case Done:
		g.Live = unless(g.Live, e.Resp)
	case Started:
		g.Sound = e.Resp
	case Stopped:
		g.Sound = unless(g.Sound, e.Resp)
	case Cleared:
		g.Sound = unless(g.Sound, e.Resp)
	case Opened, Configured, Rejected, Refused, Ended:
	}
	return g
}

// unless returns no identifier if the turn or response that has ended (of) is the recorded one, and the recorded one otherwise.
func unless[ID comparable](is, of ID) ID {
	var none ID
	if is == of {
		return none
	}
	return is
}

// heard returns an invariant that holds asks of every open state that follows from the server's events alone.
func heard(holds func(Seen, Open) bool) func(_, after Seen, step edge) bool {
	return func(_, after Seen, step edge) bool {
		s, open := step.To.(Open)
		return !open || after.Guessing || holds(after, s)
	}
}

var (
	speechIsAnnounced = heard(func(g Seen, s Open) bool { return s.Speech == g.Speech })
	waitingIsOwed     = heard(func(g Seen, s Open) bool { return s.Waiting == g.Waiting })
	liveIsAnnounced   = heard(func(g Seen, s Open) bool { return s.Live == g.Live })
	soundIsAnnounced  = heard(func(g Seen, s Open) bool { return s.Sound == g.Sound })
	settingsAreTold   = heard(func(g Seen, s Open) bool { return s.Interrupts == g.Interrupts && s.Answers == g.Answers })
)

func openBetween(_, after Seen, step edge) bool {
	switch step.To.(type) {
	case Closed:
		return !after.Opened && !after.Over
	case Open:
		return after.Opened && !after.Over
	case Over:
	}
	return after.Over
}

func staleIsHarmless(_, _ Seen, step edge) bool {
	s, open := step.From.(Open)
	if !open {
		return true
	}
	stale := false
	switch e := step.Event.(type) {
	case SpeechStopped:
		stale = e.Turn != s.Speech
	case Transcribed:
		stale = e.Turn != s.Waiting
	case Done:
		stale = e.Resp != s.Live
	case Stopped:
		stale = e.Resp != s.Sound
	case Cleared:
		stale = e.Resp != s.Sound
	case Opened, Configured, SpeechStarted, Committed, Created, Started, Rejected, Refused, Ended,
		Candidate, Interrupt, Write, Commit, Ask, Cancel, Clear:
	}
	return !stale || step.To == step.From
}

func serverNeverGuesses(_, _ Seen, step edge) bool {
	_, told := step.Event.(Told)
	return !told || Guesses(step.From) || !Guesses(step.To)
}

func inputsOnlyGuess(_, _ Seen, step edge) bool {
	if _, input := step.Event.(Input); !input {
		return true
	}
	from, was := step.From.(Open)
	to, is := step.To.(Open)
	if !was || !is {
		return step.From == step.To
	}
	return (to.Speech == from.Speech || to.Speech == 0 || to.Speech == ForeseenTurn) &&
		(to.Waiting == from.Waiting || to.Waiting == 0 || to.Waiting == ForeseenTurn) &&
		(to.Live == from.Live || to.Live == 0 || to.Live == ForeseenResponse) &&
		(to.Sound == from.Sound || to.Sound == 0) &&
		to.Interrupts == from.Interrupts && to.Answers == from.Answers
}

func inputsWantASubject(_, _ Seen, step edge) bool {
	in, input := step.Event.(Input)
	s, open := step.From.(Open)
	to, still := step.To.(Open)
	if !input || !open || !still {
		return true
	}
	agent := s.Live != 0 || s.Sound != 0
	awaits := s.Waiting != 0 || s.Live != 0
	wanted, done := false, false
	switch in.(type) {
	case Candidate:
		wanted, done = s.Interrupts && agent && s.Speech == 0, to.Interrupting
	case Interrupt:
		wanted, done = s.Interrupts && agent, to.Speech != 0 && to.Live == 0 && to.Sound == 0 && !to.Interrupting
	case Write:
		wanted, done = !awaits, to.Waiting != 0
	case Commit:
		cut := !s.Interrupts || to.Live == 0 && to.Sound == 0 || s.Speech == 0 && !s.Interrupting
		wanted = !awaits || s.Speech != 0 || s.Interrupting
		done = to.Speech == 0 && !to.Interrupting && cut && (to.Waiting != 0 || to.Live != 0)
	case Ask:
		wanted = s.Live == 0 && (s.Waiting == 0 || s.Waiting == ForeseenTurn)
		done = to.Live != 0 && to.Waiting == 0
	case Cancel:
		wanted, done = s.Live != 0, to.Live == 0
	case Clear:
		wanted, done = s.Sound != 0, to.Sound == 0
	}
	if !wanted {
		return to == s
	}
	return done
}
