package sdk

import (
	"strings"
	"time"
)

// transcript is the conversation: every item that the server has told of, in the server's order, shown or not.
type transcript struct {
	limits  Limits
	items   []*item // Invariant: ids are unique; at most Limits.Entries.
	byID    map[string]*item
	trimmed int
	shown   []Entry // what entries gave last; nil when something has changed since
}

// item is one item of the conversation.
type item struct {
	id          string
	hidden      bool // has a place, but is nothing to show
	carriedOver bool // it came before a loss: its place is the old one
	entry       Entry
	response    string
	parts       []string      // text by content_index
	sound       time.Duration // how long its sound is, where the client has had it; Never where it has not
	asked       time.Duration // when the server was asked what was heard of it; Never when it was not
}

// maxParts bounds the parts of one item.
const maxParts = 64

func newTranscript(l Limits) transcript {
	return transcript{limits: l, byID: map[string]*item{}}
}

// find gives the item, nil when there is none.
func (t *transcript) find(id string) *item { return t.byID[id] }

// open gives the item, and makes it at the end when there is none.
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

// trim lets the oldest go.
func (t *transcript) trim() {
	oldest := t.items[0]
	delete(t.byID, oldest.id)
	t.items[0] = nil
	t.items = t.items[1:]
	if !oldest.hidden {
		t.trimmed++
	}
}

// place moves an item behind the one that the server says precedes it. A nil or unknown one leaves it where it is.
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

func (t *transcript) index(it *item) int {
	for i := len(t.items) - 1; i >= 0; i-- {
		if t.items[i] == it {
			return i
		}
	}
	return -1
}

// remove takes an item away.
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

// part sets (or, with more, lengthens) one part of the item's text.
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

// text replaces all of the item's text.
func (t *transcript) text(it *item, text string) {
	it.entry.Text = cutBytes(text, t.limits.EntryBytes)
	t.changed()
}

// settle says that the item does not change any more.
func (t *transcript) settle(it *item) {
	if it.entry.Live {
		it.entry.Live = false
		t.changed()
	}
}

// settleResponse settles what belongs to a response that is over, but for what the server is being asked about.
func (t *transcript) settleResponse(id string) {
	for _, it := range t.items {
		if it.response == id && it.asked == Never {
			t.settle(it)
		}
	}
}

// note puts a remark beside the item's text.
func (t *transcript) note(it *item, note string, failed bool) {
	it.entry.Note, it.entry.Failed = note, failed
	t.changed()
}

// closeLive settles all: the call is over. sound is the response that was being heard, "" when none was. Where its end was cut off only
// the server knew; that it was is said.
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

// entries gives what is to be shown. The slice is never written to again.
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

func (t *transcript) changed() { t.shown = nil }

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

// cutBytes shortens s to at most n bytes of whole characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// cutWords keeps the given share (0 to 1) of s, ending before a word that is not whole.
func cutWords(s string, share float64) string {
	n := int(share * float64(len(s)))
	if share >= 1 || n >= len(s) {
		return s
	}
	if n <= 0 {
		return ""
	}
	if s[n] != ' ' {
		n = strings.LastIndexByte(s[:n], ' ')
	}
	if n < 0 {
		return ""
	}
	return strings.TrimRight(cutBytes(s, n), " ")
}
