package conversation

// Compaction: a summary that the model reads in place of the oldest items. The items stay in the conversation.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Bounds say when a conversation is too long, as shares of what the model reads at most, of the bytes and of the number of items of a
// conversation: above At the oldest items are to be summarised, until the rest is below Keep.
type Bounds struct{ At, Keep float64 }

const (
	newestKept  = 4    // so many of the newest items are never summarised
	leastTokens = 1000 // a conversation with fewer tokens is short, however small the window
	// SummaryTokens is the most tokens of a summary.
	SummaryTokens = 512
)

// summaryHead stands before the summary in the instructions of the model.
const summaryHead = "\n\nThe conversation began earlier. A summary of what is left out below:\n"

// Head is the oldest part of what the model reads of a conversation, as it was when its summary began. Its texts may be read by any goroutine.
type Head struct {
	Items  []wire.Item // copies of the items
	Before string      // the summary of what came before them; "" for none
	Tokens int         // the tokens of Items and Before

	items []*Item
	bytes []int // the size of each item
	asked *Item // the newest message of the user, which may stand between items
}

// Compacted says what a summary has changed.
type Compacted struct {
	Items  int    // how many items it stands for, without those of earlier summaries
	Last   string // the name of the newest of them
	Before int    // the tokens that the model read of the conversation
	After  int
}

// Newest returns the number of the newest item, which grows with each item that is added.
func (c *Conversation) Newest() uint64 { return uint64(c.last) }

// weight is what an item weighs for the model, and the size of the item when that was counted.
type weight struct{ tokens, bytes int }

// weigh returns the weight of an item. It counts tokens only when the item has changed.
func (c *Conversation) weigh(it *Item) weight {
	if bytes := size(it.Item); bytes != it.weight.bytes {
		tokens := 0
		for _, m := range messages(it.Item, nil) {
			tokens += c.messageTokens(m)
		}
		it.weight = weight{tokens, bytes}
	}
	return it.weight
}

// reads returns the items that the model reads, and their weight.
func (c *Conversation) reads() (items []*Item, all weight) {
	items = make([]*Item, 0, len(c.items))
	for _, it := range c.items {
		if !it.left && !it.summarised {
			w := c.weigh(it)
			all.tokens += w.tokens
			all.bytes += w.bytes
			items = append(items, it)
		}
	}
	return items, all
}

// Head returns the part of the conversation that is to be summarised. ok is false if the conversation is short enough, or if nothing of it can be
// summarised. q is what the model is asked with.
func (c *Conversation) Head(q *pipeline.Request, b Bounds) (h Head, ok bool) {
	items, all := c.reads()
	room := c.room(q) - c.Tokens(c.summary)
	above := func(w weight, n int, share float64) bool {
		return float64(w.tokens) > share*float64(room) || float64(w.bytes) > share*maxBytes || float64(n) > share*maxItems
	}
	if !above(all, len(items), b.At) || all.tokens < leastTokens {
		return h, false
	}
	h = Head{Before: c.summary, Tokens: c.Tokens(c.summary)}
	h.asked = newestQuestion(items)
	left, n := all, 0
	for most := c.window() * 3 / 4; n < len(items)-newestKept && above(left, len(items)-n, b.Keep); n++ {
		w := c.weigh(items[n])
		if !items[n].settled() || h.Tokens+w.tokens > most {
			break
		}
		left.tokens -= w.tokens
		left.bytes -= w.bytes
		h.Tokens += w.tokens
	}
	n = wholeCalls(items, n)
	h.Items, h.items, h.bytes = make([]wire.Item, 0, n), make([]*Item, 0, n), make([]int, 0, n)
	for _, it := range items[:n] {
		if it != h.asked {
			h.items, h.bytes = append(h.items, it), append(h.bytes, size(it.Item))
			h.Items = append(h.Items, it.Item)
		}
	}
	return h, len(h.items) > 0
}

// newestQuestion returns the newest message of the user, which the model reads word for word also within a long loop of tools; nil for none.
func newestQuestion(items []*Item) *Item {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Type == wire.ItemMessage && items[i].Role == pipeline.RoleUser {
			return items[i]
		}
	}
	return nil
}

// settled reports whether nothing of the item is still to come.
func (it *Item) settled() bool { return !it.pending && it.Status != "in_progress" }

// wholeCalls returns how many of the first n items can be summarised without parting a tool call from its result. A call whose result has not come
// stays, with all items after it, until the user has said something else.
func wholeCalls(items []*Item, n int) int {
	results := map[string]int{}
	asked := 0
	for i, it := range items {
		switch {
		case it.Type == wire.ItemFunctionCallOutput:
			results[it.CallID] = i
		case it.Type == wire.ItemMessage && it.Role == pipeline.RoleUser:
			asked = i
		}
	}
	for i := 0; i < n; i++ {
		if items[i].Type != wire.ItemFunctionCall {
			continue
		}
		at, is := results[items[i].CallID]
		if is && at >= n || !is && i > asked {
			n = i
		}
	}
	return n
}

// Summarise replaces the items of h by a summary in what the model reads. ok is false, and nothing changes, if the head of the conversation is another one by now.
func (c *Conversation) Summarise(h Head, text string) (done Compacted, ok bool) {
	tokens := c.Tokens(text)
	if c.summary != h.Before || !c.begins(h) {
		return done, false
	}
	_, all := c.reads()
	done = Compacted{Items: len(h.items), Last: h.items[len(h.items)-1].ID, Before: all.tokens + c.Tokens(c.summary)}
	for _, it := range h.items {
		it.summarised = true
	}
	c.summary = text
	_, all = c.reads()
	done.After = all.tokens + tokens
	return done, true
}

// begins reports whether the items of h are still the oldest that the model reads, and unchanged.
func (c *Conversation) begins(h Head) bool {
	items, _ := c.reads()
	items = slices.DeleteFunc(items, func(it *Item) bool { return it == h.asked })
	if len(items) < len(h.items) {
		return false
	}
	for i, it := range h.items {
		if items[i] != it || size(it.Item) != h.bytes[i] {
			return false
		}
	}
	return true
}

// unfold takes the summary back, because an item that it stands for is deleted or cut: the model reads the items again that are still there.
func (c *Conversation) unfold(changed *Item) {
	if !changed.summarised {
		return
	}
	c.summary = ""
	for _, it := range c.items {
		it.summarised = false
	}
}
