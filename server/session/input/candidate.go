package input

// The open candidate: who opens and decides it.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
)

// VerdictTimeout is how long a candidate may be undecided: the judge's limit, and a little for audio that is late. Decide ends it.
const VerdictTimeout = judgeDecides*time.Millisecond + 200*time.Millisecond

// OpenCandidate begins to judge candidate t, which the server's detector has opened.
func (in *Input) OpenCandidate(t turn.ID) { in.listener.candidate, in.listener.judge = t, judge{} }

// OpenPredicted begins to judge candidate t, which the client's detector has opened: its speech may still be on the way. answers
// means that only the end of the agent's response is unplayed, so the user answers it rather than listens.
func (in *Input) OpenPredicted(t turn.ID, answers bool) {
	in.listener.candidate, in.listener.judge = t, predicted()
	in.listener.judge.answers = answers
	in.listener.endpointing.paused = false // the pause was another turn's
}

// Partial weighs the live transcript of candidate t so far. It returns the event of a verdict, nil while there is none.
func (in *Input) Partial(t turn.ID, text string) turn.Event {
	l := &in.listener
	if l.candidate != t {
		return nil
	}
	return l.verdict(l.judge.partial(text))
}

// Decide returns the event of the verdict on candidate t, for which the time is over; nil if t is not the newest candidate. A client
// that has stopped sending has fallen silent.
func (in *Input) Decide(t turn.ID, now time.Time) turn.Event {
	l := &in.listener
	if l.candidate != t {
		return nil
	}
	l.judge.gap = max(l.judge.gap, int(now.Sub(l.lastAudio).Milliseconds()))
	return l.verdict(l.judge.deadline())
}

// verdict returns the event of a verdict on the candidate, nil for undecided.
func (l *listener) verdict(v verdict) turn.Event {
	switch v {
	case confirmed:
		return turn.Sustained{Turn: l.candidate}
	case rejected:
		return turn.Misfire{Turn: l.candidate}
	case undecided:
	}
	return nil
}
