package listening

// A turn of the user: from its onset until its transcript is delivered.

import (
	"unicode"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/script"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// userTurn is the state of one turn of the user.
type userTurn struct {
	id     turn.ID
	timing *room.Timing  // has the name of its item, which is the same from the onset on
	start  voice.Samples // its first sample in the input, pre-roll included
	// begun is the name of the item if another turn has begun it (Recognitions.Leave); "" otherwise.
	begun string

	recognition *recognition // nil before it opens and after it has failed
	text        string       // the live transcript so far
	caption     string       // what of text was sent
	announced   bool         // speech_started is sent
	eou         bool         // the recogniser has reported the end of the utterance, and no words came after it
	over        bool         // the recogniser or the estimator has reported that end, and no words came after it
	overAt      string       // the live transcript at that end

	spoken []bool // for each frame since the turn began: the user speaks in it
	gate   recheck
	whole  *Final // the text that the gate has found, for a turn that is committed by it; nil for none

	final   string
	words   []pipeline.Word // the words of final; nil where they are not known
	failure error           // the failure of the recognition

	item    machine.Item // the item that it became; 0 before the commit
	samples int          // how much was committed
	audio   []int16      // what was committed; nil if there was no memory for it: the live text is all there is then
}

// newCaption returns the event for the new part of the live transcript; nil for none. The protocol's deltas only add, so a text that
// was revised waits for the transcript, which replaces everything. The last word waits for the next result, because it changes
// most.
func (u *userTurn) newCaption() wire.ServerEvent {
	stable := settled(u.text)
	if len(stable) <= len(u.caption) || stable[:len(u.caption)] != u.caption {
		return nil
	}
	delta := stable[len(u.caption):]
	u.caption = stable
	return &wire.ConversationItemInputAudioTranscriptionDelta{ItemID: u.timing.ItemID, Delta: delta}
}

// settled returns a text without its last word. Where no spaces stand between words, the last heldBack characters are the last word.
func settled(text string) string {
	const heldBack = 2
	for dropped := 0; text != ""; dropped++ {
		last, size := utf8.DecodeLastRuneInString(text)
		if last == ' ' || dropped >= heldBack && script.Unspaced(last) {
			return text
		}
		text = text[:len(text)-size]
	}
	return ""
}

// goesOn reports whether the live transcript has words after the end of the utterance. A result that only revises the words before it,
// their case or their punctuation has none.
func (u *userTurn) goesOn() bool {
	return u.over && count(u.text) > count(u.overAt)
}

// count returns how many words a text has. Where no spaces stand between words, each letter is one.
func count(text string) (n int) {
	inWord := false
	for _, r := range text {
		switch {
		case script.Unspaced(r):
			n, inWord = n+1, false
		case unicode.IsSpace(r):
			inWord = false
		case !inWord && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			n, inWord = n+1, true
		}
	}
	return n
}
