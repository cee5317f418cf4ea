package backend

// This file keeps the marks that some models write at an end out of the text.

import "strings"

// The marks of an end of utterance and of the end of a backchannel.
const (
	markEOU = "<EOU>"
	markEOB = "<EOB>"
)

// WithoutMarks returns a text without the marks <EOU> and <EOB>, and what the last mark says. If whole is false, more text may follow: then
// it also leaves out what may be the begin of a mark at the end of the text.
func WithoutMarks(text string, whole bool) (string, Boundary) {
	said := NoBoundary
	eou, eob := strings.LastIndex(text, markEOU), strings.LastIndex(text, markEOB)
	switch {
	case eou > eob:
		said = EndOfUtterance
	case eob >= 0:
		said = EndOfBackchannel
	}
	all := len(text)
	for strings.Contains(text, markEOU) || strings.Contains(text, markEOB) { // what remains may make another mark
		text = strings.ReplaceAll(strings.ReplaceAll(text, markEOU, ""), markEOB, "")
	}
	for n := len(markEOU) - 1; n > 0 && !whole; n-- {
		if strings.HasSuffix(text, markEOU[:n]) || strings.HasSuffix(text, markEOB[:n]) {
			text = text[:len(text)-n]
			break
		}
	}
	if len(text) < all {
		text = strings.TrimRight(text, " ") // the space before a mark
	}
	return text, said
}
