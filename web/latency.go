package web

// The latency of an answer: its parts, and its texts.

import (
	"strconv"
	"strings"
)

// Latency has the shares of the time of one answer, in milliseconds. It comes
// from the server's antiphon.turn.metrics event, which counts from the end of
// the user's speech.
type Latency struct {
	Total       int // end of speech to the first sound (or word) of the answer; 0 means not known
	Silence     int // waiting to be sure that the user had finished
	Recognition int // turning speech into words
	Model       int // first word of the answer
	Voice       int // first sound of the answer
	Network     int // on its way to the listener
	Written     bool
	Failed      bool // nothing was heard: the answer has failed, and has no latency
}

// Part is one share of a latency.
type Part struct {
	Name string
	MS   int
}

// Parts returns the shares that took time, in the order in which they
// happened.
func (l Latency) Parts() []Part {
	all := []Part{
		{"silence wait", l.Silence},
		{"recognition", l.Recognition},
		{"answer", l.Model},
		{"voice", l.Voice},
		{"network", l.Network},
	}
	parts := all[:0]
	for _, p := range all {
		if p.MS > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// Text returns the latency as a sentence; empty when it is not known.
func (l Latency) Text() string {
	if l.Total <= 0 {
		return ""
	}
	after := " ms after you stopped"
	if l.Written {
		after = " ms after you sent it"
	}
	return "Answer began " + strconv.Itoa(l.Total) + after
}

// noticeable is the least share, in milliseconds, that Detail names.
const noticeable = 5

// Detail returns the list of the shares: "310 silence wait · 60 recognition · 50 voice".
func (l Latency) Detail() string {
	var words []string
	for _, p := range l.Parts() {
		if p.MS >= noticeable {
			words = append(words, strconv.Itoa(p.MS)+unbroken+strings.ReplaceAll(p.Name, " ", unbroken))
		}
	}
	return strings.Join(words, " · ")
}

// unbroken is a space at which a line does not end.
const unbroken = "\u00a0"

// MetricsLatency makes a Latency from the marks of antiphon.turn.metrics:
// milliseconds since the end of the user's speech, -1 for what did not
// happen. A share whose mark comes before the mark of the share before it is 0.
func MetricsLatency(commit, transcript, firstToken, firstAudio, firstPacket int) Latency {
	var l Latency
	at := 0
	share := func(mark int) int {
		if mark <= at {
			return 0
		}
		d := mark - at
		at = mark
		return d
	}
	l.Silence = share(commit)
	l.Recognition = share(transcript)
	l.Model = share(firstToken)
	l.Voice = share(firstAudio)
	l.Network = share(firstPacket)
	l.Total = at
	if firstPacket < 0 && firstAudio < 0 && firstToken < 0 {
		return Latency{}
	}
	return l
}
