// Package transcript keeps the items of a conversation in the order of the server, with the words that the user said and heard. It
// does no I/O: where words must be asked of the server, a function says so in its result. One goroutine at a time may use it.
package transcript

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/words"
)

// Transcript has every item that the server has named, shown or not, in the order of the server.
type Transcript struct {
	// Items are not to be changed. Invariant: ids are unique; at most as many as New allows.
	Items []*Item
	// Trimmed is how many shown items were removed because there were too many.
	Trimmed int
	// Changed: something to show has changed. Whoever shows the items clears it.
	Changed bool

	most, mostBytes int
	byID            map[string]*Item
}

// Role says whose an item is.
type Role uint8

// The roles.
const (
	User Role = iota
	Agent
	ToolUse
)

// Item is one item of the conversation. Set a field directly only before something else calls Transcript.Changed; the fields mean
// what those of sdk.Entry mean.
type Item struct {
	ID                                       string
	Role                                     Role
	Text, Note                               string
	Spoken, Live, Interrupted, Image, Failed bool
	HeardMS                                  int
	heard                                    int   // how many bytes of Text the user has heard; -1 is all
	Call                                     *Call // replaced, never written to
	// Hidden: the item has a place but is not shown.
	Hidden bool
	// Response is the id of the response that the item belongs to; "" for none.
	Response string
	// Asked is when the server was asked which words were heard; deadline.Never when it was not.
	Asked time.Duration

	carriedOver bool          // it comes from a lost conversation and keeps its place
	parts       []string      // text by content_index
	sound       time.Duration // the length of its sound; deadline.Never when the client does not get the sound
}

// Call is a function that the agent called. Its fields are those of sdk.ToolCall.
type Call struct {
	ID              string
	Name, Arguments string
	Output          string
	Done            bool
	Failed          bool
}

// maxParts bounds the parts of one item.
const maxParts = 64

// New makes an empty transcript of at most so many items, and so many bytes of text in each.
func New(most, mostBytes int) Transcript {
	return Transcript{most: most, mostBytes: mostBytes, byID: map[string]*Item{}, Changed: true}
}

// Find returns the item; nil when there is none.
func (t *Transcript) Find(id string) *Item { return t.byID[id] }

// Open returns the item. When there is none, it makes one at the end.
func (t *Transcript) Open(id string, role Role) *Item {
	if it := t.byID[id]; it != nil {
		return it
	}
	it := &Item{ID: id, Role: role, Live: true, HeardMS: -1, heard: -1, sound: deadline.Never, Asked: deadline.Never}
	t.Items = append(t.Items, it)
	t.byID[id] = it
	for len(t.Items) > t.most {
		oldest := t.Items[0]
		delete(t.byID, oldest.ID)
		t.Items[0] = nil
		t.Items = t.Items[1:]
		if !oldest.Hidden {
			t.Trimmed++
		}
	}
	t.Changed = true
	return it
}

// Place moves an item directly after the one that precedes it on the server. A nil or unknown predecessor leaves it where it is.
func (t *Transcript) Place(it *Item, previous *string) {
	if previous == nil || *previous == it.ID || it.carriedOver {
		return
	}
	before := t.byID[*previous]
	if before == nil {
		return
	}
	at := t.index(it)
	if at > 0 && t.Items[at-1] == before {
		return
	}
	t.Items = append(t.Items[:at], t.Items[at+1:]...)
	to := t.index(before) + 1
	t.Items = append(t.Items, nil)
	copy(t.Items[to+1:], t.Items[to:])
	t.Items[to] = it
	t.Changed = true
}

// index returns the position of an item; -1 when it is not in the transcript.
func (t *Transcript) index(it *Item) int {
	for i := len(t.Items) - 1; i >= 0; i-- {
		if t.Items[i] == it {
			return i
		}
	}
	return -1
}

// Remove takes an item out of the transcript.
func (t *Transcript) Remove(id string) {
	if it := t.byID[id]; it != nil {
		at := t.index(it)
		t.Items = append(t.Items[:at], t.Items[at+1:]...)
		delete(t.byID, id)
		t.Changed = true
	}
}

// Part sets one part of the item's text, or with more adds to it.
func (t *Transcript) Part(it *Item, index int, text string, more bool) {
	if index < 0 || index >= maxParts || it.Interrupted {
		return
	}
	for len(it.parts) <= index {
		it.parts = append(it.parts, "")
	}
	if more {
		text = it.parts[index] + text
	}
	it.parts[index] = words.CutBytes(text, t.mostBytes)
	t.SetText(it, words.Join(it.parts))
}

// SetText replaces the whole of the item's text.
func (t *Transcript) SetText(it *Item, text string) {
	it.Text = words.CutBytes(text, t.mostBytes)
	t.Changed = true
}

// Recognised replaces the captions of a turn by its final words. The turn is settled.
func (t *Transcript) Recognised(id, text, note string, failed bool) {
	it := t.Open(id, User)
	it.Spoken, it.parts = true, nil
	t.SetText(it, text)
	t.Annotate(it, note, failed)
	t.Settle(it)
}

// Settle marks an item that does not change any more.
func (t *Transcript) Settle(it *Item) {
	t.Changed = t.Changed || it.Live
	it.Live = false
}

// SettleResponse settles the items of a response that has ended, except those whose words the server was asked for.
func (t *Transcript) SettleResponse(id string) {
	for _, it := range t.Items {
		if it.Response == id && it.Asked == deadline.Never {
			t.Settle(it)
		}
	}
}

// Annotate sets the remark beside the item's text.
func (t *Transcript) Annotate(it *Item, note string, failed bool) {
	it.Note, it.Failed = note, failed
	t.Changed = true
}

// AnnotateResponse notes on the last item of a response why the response has failed.
func (t *Transcript) AnnotateResponse(id, note string) {
	for i := len(t.Items) - 1; i >= 0; i-- {
		if it := t.Items[i]; it.Response == id && it.Role == Agent {
			t.Annotate(it, note, true)
			return
		}
	}
}

// CloseLive settles all items at the end of the call. sound is the response that was heard then; "" for none. Only the server
// knew where the sound of that response ends, so its entry says that not all of it was said.
func (t *Transcript) CloseLive(sound string) {
	for _, it := range t.Items {
		if it.Role == Agent && it.Spoken && !it.Interrupted && (it.Live || sound != "" && it.Response == sound) {
			t.Annotate(it, "The call ended before all of this was said.", it.Failed)
		}
		t.Settle(it)
		it.Asked = deadline.Never
	}
}

const (
	// maxCarriedOver and maxCarriedOverBytes bound the words that a new conversation begins with: the newest of the lost one.
	maxCarriedOver, maxCarriedOverBytes = 100, 256 << 10
	// lossNote is the note of the last entry before the loss.
	lossNote = "The connection was lost here. The agent knows the words so far, and nothing else of them."
)

// CarryOver returns the messages that a new conversation gets of the lost one, oldest first. They keep their places. The last entry
// that the server had gets a note. waiting has the items that go to the new conversation by themselves.
func (t *Transcript) CarryOver(waiting map[string]bool) []*Item {
	from, bytes, noted := len(t.Items), 0, false
	var newest []*Item
	for from > 0 && len(newest) < maxCarriedOver {
		from--
		it := t.Items[from]
		if it.Hidden || waiting[it.ID] {
			continue
		}
		if !noted {
			noted = true
			note := lossNote
			if it.Note != "" && it.Note != lossNote {
				note = it.Note + " " + lossNote
			}
			t.Annotate(it, note, it.Failed)
		}
		if it.Role == ToolUse || it.Failed || it.Text == "" {
			continue
		}
		if bytes += len(it.Text); bytes > maxCarriedOverBytes {
			break
		}
		it.carriedOver = true
		newest = append(newest, it)
	}
	for i, j := 0, len(newest)-1; i < j; i, j = i+1, j-1 {
		newest[i], newest[j] = newest[j], newest[i]
	}
	return newest
}
