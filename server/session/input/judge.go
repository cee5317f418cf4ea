package input

// The judge of a candidate: is speech over the agent a barge-in, or a cough, or a "mm-hm"?

import "strings"

// What speaks for and against a barge-in, in milliseconds.
const (
	judgeSpeech  = 600  // speech with short gaps that confirms by itself
	judgeGap     = 100  // a longer gap ends one run of speech
	judgeEnd     = 200  // a silence this long ends the candidate; the detector has waited some 70 ms more
	judgeWords   = 150  // speech that must be there before words are believed
	judgeDecides = 1000 // the latest decision after the onset
	judgeLead    = 150  // how much earlier than its speech a client's candidate may come
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
	elapsed int // ms since the onset
	run     int // ms of the present run of speech, short gaps included
	speech  int // ms of speech in all
	gap     int // ms since the last speech
	words   string
	// answers: only the end of the agent's response is unplayed, so the user answers it rather than listens.
	answers bool
	// near: the agent has almost finished, or has asked a question. Any word is then an answer, and the judge waits for the
	// recogniser's words as long as it may.
	near bool
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
	case j.run >= judgeSpeech && !j.listens():
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
	j.words = text
	if j.speech >= judgeWords && (interrupts(text) || j.answers && text != "" || j.near && answers(text)) {
		return confirmed
	}
	return undecided
}

// listens reports whether the user has only acknowledged what the agent says.
func (j *judge) listens() bool { return !j.answers && !j.near && onlyAcknowledges(j.words) }

// deadline decides: confirmed if speech goes on, rejected if it has stopped or never came.
func (j *judge) deadline() verdict {
	if j.speech > 0 && j.gap <= judgeGap && !j.listens() {
		return confirmed
	}
	return rejected
}

// acknowledgements are words that mean "I am listening". They never interrupt, however many there are.
var acknowledgements = map[string]bool{
	"ah": true, "aha": true, "cool": true, "good": true, "great": true, "hm": true, "hmm": true, "huh": true, "mhm": true,
	"mm": true, "mmm": true, "oh": true, "ok": true, "okay": true, "right": true, "sure": true, "uh": true, "uhhuh": true, "mmhm": true, "mhmm": true,
	"um": true, "wow": true, "yeah": true, "yep": true, "yes": true,
}

// commands interrupt at once, alone or with other words.
var commands = map[string]bool{
	"stop": true, "wait": true, "no": true, "hold": true, "pause": true, "quiet": true, "enough": true, "cancel": true,
}

// fillers are short words that a recogniser finds in noise. Alone they mean nothing.
var fillers = map[string]bool{"the": true, "a": true, "and": true, "but": true, "to": true, "of": true, "in": true, "it": true, "i": true}

// interrupts reports whether text has a command, or two words that are neither acknowledgements nor fillers.
func interrupts(text string) bool {
	content := 0
	for w := range words(text) {
		if commands[w] {
			return true
		}
		if !acknowledgements[w] && !fillers[w] {
			content++
		}
	}
	return content >= 2
}

// answers reports whether text has a word that is no filler.
func answers(text string) bool {
	for w := range words(text) {
		if !fillers[w] {
			return true
		}
	}
	return false
}

// onlyAcknowledges reports whether text has words and all of them acknowledge.
func onlyAcknowledges(text string) bool {
	n := 0
	for w := range words(text) {
		n++
		if !acknowledgements[w] {
			return false
		}
	}
	return n > 0
}

// words yields the words of text in lower case, without punctuation and hyphens.
func words(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsSeq(strings.ToLower(text)) {
			if w = strings.Trim(w, ".,!?;:'\"-…"); w != "" && !yield(strings.ReplaceAll(w, "-", "")) {
				return
			}
		}
	}
}
