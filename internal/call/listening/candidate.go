package listening

// The open candidate: who opens and decides it.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// VerdictTimeout is how long a candidate may be undecided: the judge's limit, and a little for audio that is late. Decide ends it.
const VerdictTimeout = judgeDecides*time.Millisecond + 200*time.Millisecond

// GateTimeout is how long a turn waits for the text of the whole utterance (pipeline.Pipeline.Retranscriber) after its end. Then the end counts without that text.
const GateTimeout = 2 * time.Second

const (
	// keepWords is how long after its rejection a candidate with words still belongs to the turn that follows, in frames.
	keepWords = 1500 / frameMS
	// keepAudio is the most audio of rejected candidates that is kept for such a turn, in frames.
	keepAudio = 4000 / frameMS
)

// OpenPredicted begins to judge candidate t, which the client's detector has opened: its speech may still be on the way. answers
// means that only the end of the agent's response is unplayed, so the user answers it rather than listens. near is as in OpenCandidate.
func (in *Input) OpenPredicted(t turn.ID, answers, near bool, v InputView) {
	j := predicted()
	j.answers = answers
	in.openCandidate(t, j, near, v)
	in.listener.endpointing.paused = false // the pause was another turn's
}

// openCandidate begins to judge candidate t by j.
func (in *Input) openCandidate(t turn.ID, j judge, near bool, v InputView) {
	if v.NoLiveTranscription {
		j.answers = j.answers || near // there will be no words to wait for
	} else {
		j.near, j.atEnd = near, v.AtEnd
	}
	j.language = v.Language
	in.candidateStart = in.TurnStart()
	in.listener.candidate, in.listener.judge = t, j
}

// CandidateRejected ends the candidate. Speech that goes on begins the next one. The audio of a candidate with words is kept for a turn
// that follows within keepWords; all other audio before the pre-roll of a turn that may begin now is dropped.
func (in *Input) CandidateRejected() {
	l := &in.listener
	l.candidate = 0
	l.endpointing.endTurn()
	if l.judge.said.Answers {
		oldest := voice.Samples((in.frames - keepAudio) * frameSamples)
		in.kept = keptAudio{start: max(in.candidateStart, oldest), until: in.frames + keepWords}
	}
	in.dropUnused()
}

// keptAudio is audio of a rejected candidate that had words. The zero value is none.
type keptAudio struct {
	start voice.Samples
	until int64 // the frame after which it is not kept any more
}

// turnStart returns the earliest position of audio that belongs to a turn whose onset is the present frame.
func (in *Input) turnStart() voice.Samples {
	onset := in.onset()
	if in.frames <= in.kept.until {
		return min(onset, in.kept.start)
	}
	return onset
}

// dropUnused drops the audio that belongs to no turn, not even to one that begins now.
func (in *Input) dropUnused() { in.buffer.DropBefore(in.turnStart()) }

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
