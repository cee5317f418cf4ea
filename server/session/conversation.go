package session

import (
	"cmp"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// Bounds of the conversation; the oldest items make room for new ones.
const (
	maxItems = 1000
	maxBytes = 16 << 20 // of texts, images and audio
)

// item is one item of the conversation.
type item struct {
	wire.Item
	num   id.Item
	audio alignment     // of what an assistant's message says; nil for others
	said  voice.Samples // of its audio: generated or heard, or left of it
	// cut: it was truncated, and what its response still makes of it does not count.
	cut bool
	// pending: the transcript of its audio is awaited.
	pending bool
	// left: it is left out of what the model gets, since the conversation has become too long.
	left bool
	// pcm is its audio, or the begin of it, as long as that is kept.
	pcm []int16
	// mute: none of its audio is kept any more.
	mute bool
}

// conversation is the ordered list of items.
type conversation struct {
	items []*item
	last  id.Item
}

func (c *conversation) find(name string) (*item, int) {
	i := slices.IndexFunc(c.items, func(it *item) bool { return it.ID == name })
	if i < 0 {
		return nil, -1
	}
	return c.items[i], i
}

// numbered returns the item of that number, nil if it is gone.
func (c *conversation) numbered(num id.Item) *item {
	i := slices.IndexFunc(c.items, func(it *item) bool { return it.num == num })
	if i < 0 {
		return nil
	}
	return c.items[i]
}

// has says whether it is still there: another item may have its name by now.
func (c *conversation) has(it *item) bool { return slices.Contains(c.items, it) }

// add puts w behind the item named after: "" is the end, "root" the beginning. It returns the name of the item before
// it, nil for none, and what fell out of the front for it; ok is false when after is unknown.
func (c *conversation) add(w wire.Item, after string) (it *item, previous *string, fell []*item, ok bool) {
	at := len(c.items)
	switch after {
	case "":
	case "root":
		at = 0
	default:
		_, i := c.find(after)
		if i < 0 {
			return nil, nil, nil, false
		}
		at = i + 1
	}
	c.last++
	it = &item{Item: w, num: c.last}
	n := c.excess(w)
	fell = slices.Clone(c.items[:n])
	c.items = c.items[n:]
	at = max(0, at-n)
	c.items = slices.Insert(c.items, at, it)
	return it, c.before(at), fell, true
}

// excess is how many of the oldest items must go to make room for w.
func (c *conversation) excess(w wire.Item) int {
	bytes := weight(w)
	for _, it := range c.items {
		bytes += weight(it.Item)
	}
	n := 0
	for n < len(c.items) && (len(c.items)-n >= maxItems || bytes > maxBytes) {
		bytes -= weight(c.items[n].Item)
		n++
	}
	return n
}

// weight is about how many bytes an item keeps.
func weight(w wire.Item) int {
	n := len(w.ID) + len(w.CallID) + len(w.Name) + len(w.Arguments) + len(w.Output)
	for _, p := range w.Content {
		n += len(p.Text) + len(p.Audio) + len(p.ImageURL)
		if p.Transcript != nil {
			n += len(*p.Transcript)
		}
	}
	return n
}

// before is the name of the item before index i, nil at the beginning.
func (c *conversation) before(i int) *string {
	if i <= 0 || i > len(c.items) {
		return nil
	}
	name := c.items[i-1].ID
	return &name
}

// previous is the name of the item before it, nil at the beginning or when it is not there any more.
func (c *conversation) previous(it *item) *string { return c.before(slices.Index(c.items, it)) }

// pending says whether the transcript of any item is awaited.
func (c *conversation) pending() bool {
	return slices.ContainsFunc(c.items, func(it *item) bool { return it.pending })
}

// message is one item as a model reads it; false when it says nothing.
func message(w wire.Item) (pipeline.Message, bool) {
	switch w.Type {
	case wire.ItemMessage:
		m := pipeline.Message{Role: w.Role, Text: contentText(w.Content), Images: images(w.Content)}
		return m, m.Text != "" || m.Images != nil
	case wire.ItemFunctionCall:
		call := pipeline.ToolCall{ID: w.CallID, Name: w.Name, Arguments: cmp.Or(w.Arguments, noArguments)}
		return pipeline.Message{Role: pipeline.RoleAssistant, Call: &call}, w.Status != statusIncomplete
	case wire.ItemFunctionCallOutput:
		result := pipeline.ToolResult{CallID: w.CallID, Output: w.Output}
		return pipeline.Message{Role: pipeline.RoleUser, Result: &result}, true
	}
	return pipeline.Message{}, false
}

func contentText(parts []wire.Content) string {
	text := ""
	for _, p := range parts {
		t := p.Text
		if p.Transcript != nil {
			t = *p.Transcript
		}
		if t != "" && text != "" {
			text += "\n"
		}
		text += t
	}
	return text
}
