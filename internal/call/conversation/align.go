package conversation

// The alignment of a message: which of its words belong to which position of its audio.

import (
	"strings"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/script"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// span is one clause of an item: its text and the position of its audio in the item's audio, in samples.
type span struct {
	text     string
	from, to voice.Samples // from is negative while the clause has no audio
	done     bool          // the value of to does not change any more
}

// perRune is how many samples a character takes to say, where the rate of speech is not known yet: 65 ms, the rate of unhurried English.
const perRune = room.OutputRate * 65 / 1000

// alignment is the clauses of an item, in order.
type alignment []span

// heardText returns the text of the audio before the position at, cut after the last whole word.
func (a alignment) heardText(at voice.Samples) string {
	var b strings.Builder
	for i, s := range a {
		if s.from < 0 {
			break
		}
		length := s.to - s.from
		if !s.done {
			length = max(length, a[:i].guess(s.text))
		}
		if at >= s.from+length {
			b.WriteString(s.text)
			continue
		}
		if at > s.from {
			b.WriteString(wholeWords(s.text, float64(at-s.from)/float64(length)))
		}
		break
	}
	return strings.TrimRight(b.String(), " \t\n")
}

// guess returns about how many samples text takes to say, at the rate of the clauses in a.
func (a alignment) guess(text string) voice.Samples {
	var samples voice.Samples
	var runes int
	for _, s := range a {
		if s.done {
			samples += s.to - s.from
			runes += utf8.RuneCountInString(s.text)
		}
	}
	n := utf8.RuneCountInString(text)
	if runes == 0 {
		return voice.Samples(n * perRune)
	}
	return samples * voice.Samples(n) / voice.Samples(runes)
}

// wholeWords cuts text after the last word that ends within the first share of its characters; share is 0 to 1. Where no spaces stand between words, each character is one.
func wholeWords(text string, share float64) string {
	limit := int(share * float64(utf8.RuneCountInString(text)))
	end, runes, inWord, unspaced := 0, 0, false, false
	for i, r := range text {
		space := r == ' ' || r == '\n' || r == '\t'
		if inWord && runes <= limit && (space || unspaced || script.Unspaced(r)) {
			end = i
		}
		inWord, unspaced = !space, script.Unspaced(r)
		runes++
	}
	return text[:end]
}
