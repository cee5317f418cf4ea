package transcript

// How far the user has heard an item of the agent while it is being said.

import (
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/script"
)

// HeardBytes returns how many bytes of the item's text the user has heard: all of an item that is not being said.
func (it *Item) HeardBytes() int {
	if it.heard < 0 {
		return len(it.Text)
	}
	return min(it.heard, len(it.Text))
}

// Hear notes that this many characters of an item of the agent have begun in the user's ear; -1 stands for all. A word that has begun counts
// as a whole. It returns the number of characters in the words that count.
func (t *Transcript) Hear(id string, characters int) (counted int) {
	it := t.byID[id]
	if it == nil || it.Role != Agent {
		return characters
	}
	heard := -1
	if characters >= 0 {
		heard, counted = wholeWords(it.Text, characters)
	}
	t.Changed = t.Changed || heard != it.heard
	it.heard = heard
	return counted
}

// wholeWords returns the length of the first characters of a text in bytes and in characters, up to the end of the last word. Where no spaces stand between words,
// each character is one.
func wholeWords(text string, characters int) (bytes, counted int) {
	var last rune
	for bytes < len(text) {
		r, size := utf8.DecodeRuneInString(text[bytes:])
		if counted >= characters && (counted == 0 || space(last) || space(r) || script.Unspaced(last) || script.Unspaced(r)) {
			break
		}
		last = r
		bytes, counted = bytes+size, counted+1
	}
	return bytes, counted
}

func space(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }
