package conversation

// The ordered list of items, and its limits.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of a conversation. The oldest items make room for new ones.
const (
	maxItems = 1000
	maxBytes = 16 << 20 // the size of all texts, images and audio
)

// Conversation is the conversation of one session.
type Conversation struct {
	env    env.Env
	model  pipeline.Model
	id     string
	items  []*Item
	last   machine.Item // the number of the newest item
	keeps  bool         // audio is kept
	speech speech
	// summary stands for the items that are summarised, where the model reads the conversation; "" for none.
	summary string

	memory   *Memory // nil without a budget
	borrowed int     // bytes of the memory's pool
	requests int     // bytes of the requests of responses, which count in addition to the items

	journal struct {
		shown map[machine.Item]*shown
		round uint64 // counts the calls of Changes
	}
}

// New returns an empty conversation that is answered by model.
func New(e env.Env, model pipeline.Model) *Conversation {
	return &Conversation{env: e, model: model, id: e.NewID("conv_"), speech: speech{wanted: hears(model)}}
}

// ID returns the conversation's name for the client, such as "conv_…".
func (c *Conversation) ID() string { return c.id }

// Find returns the item with that name, nil when there is none.
func (c *Conversation) Find(name string) *Item {
	return c.first(func(it *Item) bool { return it.ID == name })
}

// Numbered returns the item with that number, nil when there is none any more.
func (c *Conversation) Numbered(num machine.Item) *Item {
	return c.first(func(it *Item) bool { return it.num == num })
}

func (c *Conversation) first(is func(*Item) bool) *Item {
	if i := slices.IndexFunc(c.items, is); i >= 0 {
		return c.items[i]
	}
	return nil
}

// Has reports whether it is in the conversation. Another item may have the name of one that was deleted.
func (c *Conversation) Has(it *Item) bool { return slices.Contains(c.items, it) }

// Pending reports whether the transcript of any item is awaited.
func (c *Conversation) Pending() bool {
	return slices.ContainsFunc(c.items, func(it *Item) bool { return it.pending })
}

// before returns the name of the item before index i, nil at the beginning.
func (c *Conversation) before(i int) *string {
	if i <= 0 || i > len(c.items) {
		return nil
	}
	name := c.items[i-1].ID
	return &name
}

// Append adds an item at the end. previous is the name of the item before it, nil for none. deleted are the events that announce which of the oldest items made room for it.
func (c *Conversation) Append(w wire.Item) (it *Item, previous *string, deleted []wire.ServerEvent) {
	it, previous, deleted, _ = c.insert(w, "")
	return it, previous, deleted
}

// insert puts an item behind the one that is named after; "" means the end and "root" the beginning. Otherwise it is Append; ok is false when no item is named after.
func (c *Conversation) insert(w wire.Item, after string) (it *Item, previous *string, deleted []wire.ServerEvent, ok bool) {
	at := len(c.items)
	switch after {
	case "":
	case "root":
		at = 0
	default:
		i := slices.IndexFunc(c.items, func(it *Item) bool { return it.ID == after })
		if i < 0 {
			return nil, nil, nil, false
		}
		at = i + 1
	}
	c.last++
	it = &Item{Item: w, num: c.last}
	n, _ := c.excess(w) // an item of the server's own comes in any case: Create refuses a client's
	for _, old := range c.items[:n] {
		deleted = append(deleted, &wire.ConversationItemDeleted{ItemID: old.ID})
	}
	c.items = c.items[n:]
	at = max(0, at-n)
	c.items = slices.Insert(c.items, at, it)
	return it, c.before(at), deleted, true
}

// excess returns how many of the oldest items must go to make room for w, and charges the rest with w. ok is false, and nothing is charged,
// when the server has no memory for w alone.
func (c *Conversation) excess(w wire.Item) (n int, ok bool) {
	bytes := size(w) + c.size()
	for n < len(c.items) && (len(c.items)-n >= maxItems || bytes > maxBytes) {
		bytes -= size(c.items[n].Item)
		n++
	}
	for ; !c.charge(bytes); n++ {
		if n == len(c.items) {
			return n, false
		}
		bytes -= size(c.items[n].Item)
	}
	return n, true
}
