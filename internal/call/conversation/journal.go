package conversation

// The journal of the items: what has changed of them, and a conversation that begins with the items of a journal.

import (
	"bytes"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// shown is an item as the journal knows it. It shares the item's texts.
type shown struct {
	item                  wire.Item
	spoken                int // clauses whose audio is made
	length                voice.Samples
	cut, pending, running bool
	summarised, left      bool
	round                 uint64 // the call of Changes that has seen the item last
}

// Changes returns the items that were added or have changed since the last call, in the order of the conversation, and the numbers of those that were removed. The
// first call returns all items. An item whose audio is being made has changed when the audio of another clause is complete.
func (c *Conversation) Changes() (changed []journal.Item, removed []uint64) {
	if c.journal.shown == nil {
		c.journal.shown = map[machine.Item]*shown{}
	}
	c.journal.round++
	previous := machine.Item(0)
	for _, it := range c.items {
		before, now := c.journal.shown[it.num], it.show(c.journal.round)
		if before == nil {
			before = &shown{}
			c.journal.shown[it.num] = before
			changed = append(changed, it.kept(previous))
		} else if !now.same(before) {
			changed = append(changed, it.kept(previous))
		}
		*before = now
		previous = it.num
	}
	if len(c.journal.shown) > len(c.items) {
		for num, k := range c.journal.shown {
			if k.round != c.journal.round {
				delete(c.journal.shown, num)
				removed = append(removed, uint64(num))
			}
		}
	}
	return changed, removed
}

// ForgetChanges has the next call of Changes return all items.
func (c *Conversation) ForgetChanges() { c.journal.shown = nil }

// show returns the item as it is now.
func (it *Item) show(round uint64) shown {
	s := shown{item: it.Item, cut: it.cut, pending: it.pending, running: it.running, summarised: it.summarised, left: it.left, round: round}
	for _, c := range it.clauses {
		if c.done {
			s.spoken++
		}
	}
	if it.settled() {
		s.length = it.length
	}
	return s
}

// same reports whether two states of an item are equal.
func (s *shown) same(o *shown) bool {
	a, b := &s.item, &o.item
	return s.spoken == o.spoken && s.length == o.length && s.cut == o.cut && s.pending == o.pending && s.running == o.running && s.summarised == o.summarised && s.left == o.left &&
		a.ID == b.ID && a.Status == b.Status && a.CallID == b.CallID && a.Name == b.Name && a.Arguments == b.Arguments && a.Output == b.Output && a.ApprovalRequestID == b.ApprovalRequestID &&
		bytes.Equal(a.Tools, b.Tools) && bytes.Equal(a.Error, b.Error) && slices.EqualFunc(a.Content, b.Content, sameContent)
}

func sameContent(a, b wire.Content) bool {
	known := a.Transcript != nil
	return a.Type == b.Type && a.Text == b.Text && a.ImageURL == b.ImageURL && known == (b.Transcript != nil) && (!known || *a.Transcript == *b.Transcript)
}

// kept returns the item for the journal. after is the number of the item before it.
func (it *Item) kept(after machine.Item) journal.Item {
	k := journal.Item{
		Num: uint64(it.num), After: uint64(after), Item: it.Item, Spoken: it.clauses != nil, Length: int64(it.length),
		Cut: it.cut, Pending: it.pending, Running: it.running, Summarised: it.summarised, Left: it.left,
	}
	if slices.ContainsFunc(it.Content, func(p wire.Content) bool { return p.Audio != nil }) {
		k.Item.Content = slices.Clone(it.Content)
		for i := range k.Item.Content {
			k.Item.Content[i].Audio = nil
		}
	}
	for _, c := range it.clauses {
		k.Clauses = append(k.Clauses, journal.Clause{Text: c.text, From: int64(c.from), To: int64(c.to), Done: c.done})
	}
	return k
}

// Restore gives an empty conversation the name, the items and the summary of a journal. last is the number of the newest item.
func (c *Conversation) Restore(name string, items []journal.Item, last uint64, summary string) {
	c.id, c.last, c.summary = name, machine.Item(last), summary
	for _, k := range items {
		it := &Item{
			Item: k.Item, num: machine.Item(k.Num), length: voice.Samples(k.Length), cut: k.Cut, pending: k.Pending, running: k.Running, summarised: k.Summarised, left: k.Left, unkept: true,
		}
		if k.Spoken {
			it.clauses = alignment{}
		}
		for _, s := range k.Clauses {
			it.clauses = append(it.clauses, span{text: s.Text, from: voice.Samples(s.From), to: voice.Samples(s.To), done: s.Done})
		}
		c.items = append(c.items, it)
	}
	c.charge(c.size()) // without room the items stay, and no further item is taken
}

// Summary returns the text that the model reads in place of the summarised items; "" for none.
func (c *Conversation) Summary() string { return c.summary }

// LoseTranscripts ends the wait for all transcripts, and returns the items: their audio is lost.
func (c *Conversation) LoseTranscripts() (lost []*Item) {
	for _, it := range c.items {
		if it.pending {
			it.pending = false
			lost = append(lost, it)
		}
	}
	return lost
}

// NewestOfUser returns the newest message of the user; nil for none.
func (c *Conversation) NewestOfUser() *Item { return newestQuestion(c.items) }

// Running returns the items whose tools of the server run.
func (c *Conversation) Running() (all []*Item) {
	for _, it := range c.items {
		if it.running {
			all = append(all, it)
		}
	}
	return all
}

// LoseOutcome notes that the process which ran a tool of the server has ended: it is not known whether the tool has done its work.
func (c *Conversation) LoseOutcome(it *Item) {
	kind := "outcome_unknown"
	if it.ServerLabel != mcp.OwnLabel {
		kind = "tool_execution_error" // the protocol has no other one for it
	}
	c.EndCall(it, "", wire.Raw(`{"type":"`+kind+`","message":"The server has ended while the tool ran. It is not known whether the tool has done its work."}`))
}

// SpokenFrom returns the spoken messages of the assistant from the item with that number on, at most those after the newest message of the user.
func (c *Conversation) SpokenFrom(num uint64) (spoken []*Item) {
	for _, it := range slices.Backward(c.items) {
		if it.Type == wire.ItemMessage && it.Role == pipeline.RoleUser {
			break
		}
		if it.clauses != nil {
			spoken = append(spoken, it)
		}
		if uint64(it.num) == num {
			break
		}
	}
	slices.Reverse(spoken)
	return spoken
}

// Interrupted returns the last message, before news of the server, if it is one of the model that was cut off, with some words; otherwise nil.
func (c *Conversation) Interrupted() *Item {
	for _, it := range slices.Backward(c.items) {
		if it.Type == wire.ItemMessage && it.Role == pipeline.RoleAssistant && it.cut && contentText(it.Content) != "" {
			return it
		} else if it.Type == wire.ItemMessage && it.Role != "system" {
			break
		}
	}
	return nil
}

// Interrupt ends a message of the assistant whose process has ended while it was made. It keeps the words whose audio is complete, and returns them.
func (it *Item) Interrupt(spoken bool) (said string) {
	it.Status = statusIncomplete
	if !spoken {
		it.Content = []wire.Content{{Type: wire.ContentOutputText}}
		it.cut = true
		return ""
	}
	end := voice.Samples(0)
	for _, c := range it.clauses {
		if c.done && c.from >= 0 {
			end = c.to
		}
	}
	if it.clauses == nil {
		it.clauses = alignment{}
	}
	it.truncate(int(end.Milliseconds(room.OutputRate)))
	it.length = end
	return contentText(it.Content)
}
