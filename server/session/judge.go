package session

import "strings"

// What speaks for and against an interruption, in milliseconds.
const (
	frameMS      = 10
	judgeVoice   = 600  // voice with short gaps that confirms by itself
	judgeGap     = 100  // a longer gap ends one run of voice
	judgeEnd     = 200  // a silence this long ends the candidate; the detector has waited some 70 ms more
	judgeWords   = 150  // voice that must be there before words are believed
	judgeDecides = 1000 // the latest decision after the onset
	judgeLead    = 150  // how much earlier than its voice a client's candidate may come
	judgeAnswer  = 300  // voice that is an answer where the agent has said all
)

// verdict is what a judge says.
type verdict uint8

const (
	undecided verdict = iota
	confirmed
	rejected
)

// judge gathers the evidence about one candidate: is it an interruption, or a cough, or a "mm-hm"?
// The zero value is a judge who has heard nothing.
type judge struct {
	heard int // ms since the onset
	run   int // ms of the voice that goes on, short gaps included
	voice int // ms of voice in all
	gap   int // ms since the last voice
	words string
	// over: of the reply only the end is under way, and who speaks answers it rather than listening to it.
	over bool
}

// predicted is the judge of a candidate that the client's detector has opened: its voice may still be on the way.
func predicted() judge { return judge{gap: -judgeLead} }

// frame takes 10 ms of audio.
func (j *judge) frame(speech bool) verdict {
	j.heard += frameMS
	if speech {
		j.voice += frameMS
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
	case j.run >= judgeVoice && !j.listens():
		return confirmed
	case j.gap >= judgeEnd && j.over && j.voice >= judgeAnswer:
		return confirmed
	case j.gap >= judgeEnd:
		return rejected
	case j.heard >= judgeDecides:
		return j.deadline()
	}
	return undecided
}

// partial takes the text so far of the live transcription.
func (j *judge) partial(text string) verdict {
	j.words = text
	if j.voice >= judgeWords && (meansInterruption(text) || j.over && text != "") {
		return confirmed
	}
	return undecided
}

// listens: what was said only acknowledges what the agent says.
func (j *judge) listens() bool { return !j.over && onlyAcknowledges(j.words) }

// deadline must decide: the voice goes on or not, or was never heard.
func (j *judge) deadline() verdict {
	if j.voice > 0 && j.gap <= judgeGap && !j.listens() {
		return confirmed
	}
	return rejected
}

// acknowledgements are words that say "I am listening": they never interrupt, however many there are.
var acknowledgements = map[string]bool{
	"ah": true, "aha": true, "cool": true, "good": true, "great": true, "hm": true, "hmm": true, "huh": true, "mhm": true,
	"mm": true, "mmm": true, "oh": true, "ok": true, "okay": true, "right": true, "sure": true, "uh": true, "uhhuh": true, "mmhm": true, "mhmm": true,
	"um": true, "wow": true, "yeah": true, "yep": true, "yes": true,
}

// commands interrupt at once, alone or not.
var commands = map[string]bool{
	"stop": true, "wait": true, "no": true, "hold": true, "pause": true, "quiet": true, "enough": true, "cancel": true,
}

// fillers are short words that a recogniser makes of noise; alone they mean nothing.
var fillers = map[string]bool{"the": true, "a": true, "and": true, "but": true, "to": true, "of": true, "in": true, "it": true, "i": true}

// meansInterruption: a command, or two words that are more than an acknowledgement.
func meansInterruption(text string) bool {
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

// onlyAcknowledges: there are words, and all of them acknowledge.
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

// words yields the words of text in lower case without their punctuation.
func words(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsSeq(strings.ToLower(text)) {
			if w = strings.Trim(w, ".,!?;:'\"-…"); w != "" && !yield(strings.ReplaceAll(w, "-", "")) {
				return
			}
		}
	}
}
