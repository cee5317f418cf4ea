package sdk

// The transcript: the items of the conversation in the order of the server.

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/script"
)

// transcript has every item that the server has named, shown or not, in the order of the server.
type transcript struct {
	limits  Limits
	items   []*item // Invariant: ids are unique; at most Limits.Entries.
	byID    map[string]*item
	trimmed int
	shown   []Entry // the last result of entries; nil when something has changed since
}

// item is one item of the conversation.
type item struct {
	id          string
	hidden      bool // it has a place but is not shown
	carriedOver bool // it comes from a lost conversation and keeps its place
	entry       Entry
	response    string
	parts       []string      // text by content_index
	sound       time.Duration // the length of its sound; Never when the client does not get the sound
	asked       time.Duration // when the session asked the server which words were heard; Never when it did not
}

// maxParts bounds the parts of one item.
const maxParts = 64

// newTranscript makes an empty transcript.
func newTranscript(l Limits) transcript {
	return transcript{limits: l, byID: map[string]*item{}}
}

// find returns the item; nil when there is none.
func (t *transcript) find(id string) *item { return t.byID[id] }

// open returns the item. When there is none, it makes one at the end.
func (t *transcript) open(id string, role Role) *item {
	if it := t.byID[id]; it != nil {
		return it
	}
	it := &item{id: id, sound: Never, asked: Never, entry: Entry{ItemID: id, Role: role, Live: true, HeardMS: -1}}
	t.items = append(t.items, it)
	t.byID[id] = it
	for len(t.items) > t.limits.Entries {
		t.trim()
	}
	t.changed()
	return it
}

// trim removes the oldest item.
func (t *transcript) trim() {
	oldest := t.items[0]
	delete(t.byID, oldest.id)
	t.items[0] = nil
	t.items = t.items[1:]
	if !oldest.hidden {
		t.trimmed++
	}
}

// place moves an item directly after the one that precedes it on the server. A nil or unknown predecessor leaves it where it is.
func (t *transcript) place(it *item, previous *string) {
	if previous == nil || *previous == it.id || it.carriedOver {
		return
	}
	before := t.byID[*previous]
	if before == nil {
		return
	}
	at := t.index(it)
	if at > 0 && t.items[at-1] == before {
		return
	}
	t.items = append(t.items[:at], t.items[at+1:]...)
	to := t.index(before) + 1
	t.items = append(t.items, nil)
	copy(t.items[to+1:], t.items[to:])
	t.items[to] = it
	t.changed()
}

// index returns the position of an item; -1 when it is not in the transcript.
func (t *transcript) index(it *item) int {
	for i := len(t.items) - 1; i >= 0; i-- {
		if t.items[i] == it {
			return i
		}
	}
	return -1
}

// remove takes an item out of the transcript.
func (t *transcript) remove(id string) {
	it := t.byID[id]
	if it == nil {
		return
	}
	at := t.index(it)
	t.items = append(t.items[:at], t.items[at+1:]...)
	delete(t.byID, id)
	t.changed()
}

// part sets one part of the item's text, or with more adds to it.
func (t *transcript) part(it *item, index int, text string, more bool) {
	if index < 0 || index >= maxParts || it.entry.Interrupted {
		return
	}
	for len(it.parts) <= index {
		it.parts = append(it.parts, "")
	}
	if more {
		text = it.parts[index] + text
	}
	it.parts[index] = cutBytes(text, t.limits.EntryBytes)
	t.text(it, joinParts(it.parts))
}

// text replaces the whole of the item's text.
func (t *transcript) text(it *item, text string) {
	it.entry.Text = cutBytes(text, t.limits.EntryBytes)
	t.changed()
}

// settle marks an item that does not change any more.
func (t *transcript) settle(it *item) {
	if it.entry.Live {
		it.entry.Live = false
		t.changed()
	}
}

// settleResponse settles the items of a response that has ended, except those whose words the session is asking the server for.
func (t *transcript) settleResponse(id string) {
	for _, it := range t.items {
		if it.response == id && it.asked == Never {
			t.settle(it)
		}
	}
}

// note sets the remark beside the item's text.
func (t *transcript) note(it *item, note string, failed bool) {
	it.entry.Note, it.entry.Failed = note, failed
	t.changed()
}

// closeLive settles all items at the end of the call. sound is the response that was heard then; "" for none. Only the server
// knew where the sound of that response ends, so its entry says that not all of it was said.
func (t *transcript) closeLive(sound string) {
	for _, it := range t.items {
		e := &it.entry
		if e.Role == Agent && e.Spoken && !e.Interrupted && (e.Live || sound != "" && it.response == sound) {
			t.note(it, "The call ended before all of this was said.", e.Failed)
		}
		t.settle(it)
		it.asked = Never
	}
}

// entries returns the entries to show. Nobody writes to the slice again.
func (t *transcript) entries() []Entry {
	if t.shown != nil {
		return t.shown
	}
	t.shown = make([]Entry, 0, len(t.items))
	for _, it := range t.items {
		if !it.hidden {
			t.shown = append(t.shown, it.entry)
		}
	}
	return t.shown
}

// changed notes that the entries to show have changed.
func (t *transcript) changed() { t.shown = nil }

// joinParts joins the non-empty parts of a text by line breaks.
func joinParts(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n")
}

// cutBytes returns the first n bytes of s at most, without half of a character at the end.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// cutWords returns the given share (0 to 1) of s, up to the last whole word. Where no spaces stand between words, each character is one.
func cutWords(s string, share float64) string {
	n := int(share * float64(len(s)))
	if share >= 1 || n >= len(s) {
		return s
	}
	if n <= 0 {
		return ""
	}
	heard := cutBytes(s, n)
	for heard != "" {
		last, size := utf8.DecodeLastRuneInString(heard)
		next, _ := utf8.DecodeRuneInString(s[len(heard):])
		if last == ' ' || next == ' ' || script.Unspaced(last) || script.Unspaced(next) {
			break
		}
		heard = heard[:len(heard)-size]
	}
	return strings.TrimRight(heard, " ")
}
