package listening

// The judge of a candidate: is speech over the agent a barge-in, or a cough, or a "mm-hm"?

import "github.com/antiphon-rt/antiphon/internal/engine/endofturn"

// What speaks for and against a barge-in, in milliseconds.
const (
	judgeSpeech  = 600  // speech with short gaps that confirms by itself
	judgeGap     = 100  // a longer gap ends one run of speech
	judgeEnd     = 200  // a silence this long ends the candidate; the detector has waited some 70 ms more
	judgeWords   = 150  // speech that must be there before words are believed
	judgeDecides = 1000 // the latest decision after the onset
	judgeLead    = 150  // how much earlier than its speech a client's candidate may come
	judgeDucks   = 250  // how long the sound is like the user's voice before the response of a client falls silent that silences it itself: that client can take it back
	judgeAnswer  = 300  // speech that is an answer where the agent has said all
)

// verdict is the decision of a judge.
type verdict uint8

const (
	undecided verdict = iota
	confirmed
	rejected
)

// judge gathers the evidence about one candidate. The zero value is a judge without any evidence.
type judge struct {
	elapsed int            // ms since the onset
	run     int            // ms of the present run of speech, short gaps included
	speech  int            // ms of speech in all
	gap     int            // ms since the last speech
	like    int            // ms since the sound is like the user's voice; 0: it is not
	silent  bool           // so the response is silent
	softer  bool           // the sound is softer than the user: perhaps it is meant for somebody else
	said    endofturn.Said // what the newest live transcript says
	// language has the words of the user's language.
	language endofturn.Choice
	// answers: the user answers rather than listens, because only the end of the response is unplayed, or because near holds and no live transcript will come.
	answers bool
	// near: the agent has almost finished, or has asked a question. Words are then an answer, unless they are fillers, and the judge waits for them until judgeDecides.
	near bool
	// atEnd: only the last sounds of the response are unplayed. Speech is then an answer, although the recogniser has no words in time.
	atEnd bool
}

// predicted returns the judge of a candidate that the client's detector has opened: its speech may still be on the way.
func predicted() judge { return judge{gap: -judgeLead} }

// frame weighs 10 ms of audio.
func (j *judge) frame(speech bool) verdict {
	j.elapsed += frameMS
	if speech {
		j.speech += frameMS
		if j.gap > judgeGap {
			j.run = 0
		} else {
			j.run += max(0, j.gap)
		}
		j.gap = 0
		j.run += frameMS
	} else {
		j.gap += frameMS
	}
	switch {
	case j.run >= judgeSpeech && !j.listens() && j.like > 0:
		return confirmed
	case j.gap >= judgeEnd && j.answers && j.speech >= judgeAnswer:
		return confirmed
	case j.gap >= judgeEnd && !(j.near && j.speech >= judgeWords):
		return rejected
	case j.elapsed >= judgeDecides:
		return j.deadline()
	}
	return undecided
}

// partial weighs the live transcript so far.
func (j *judge) partial(text string) verdict {
	j.said = j.language.Language(text).Over(text)
	if j.speech >= judgeWords && !j.softer && (j.said.Interrupts || j.answers && text != "" || j.near && j.said.Answers) {
		return confirmed
	}
	return undecided
}

// silences weighs whether the sound is like the user's voice, and whether it is softer than the user (voice.Likeness). It reports whether the response
// must be silent from this frame on. ducks says that the client lowers and silences the agent itself.
func (j *judge) silences(like, softer, ducks bool) bool {
	j.softer = softer
	if like || j.like > 0 {
		j.like += frameMS
	}
	after := frameMS
	if ducks {
		after += judgeDucks
	}
	if j.silent || j.like < after || j.gap > 0 || j.listens() {
		return false
	}
	j.silent = true
	return true
}

// listens reports whether the user has only acknowledged what the agent says.
func (j *judge) listens() bool { return !j.answers && !j.near && j.said.Acknowledges }

// deadline decides: confirmed if speech goes on or was an answer, rejected if it has stopped or never came.
func (j *judge) deadline() verdict {
	goesOn := j.speech > 0 && j.gap <= judgeGap && (j.like > 0 || j.said.Answers)
	if (goesOn || j.atEnd && j.speech >= judgeAnswer) && !j.listens() {
		return confirmed
	}
	return rejected
}
