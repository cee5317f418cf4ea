package conversation

// The client's changes of the conversation: create, delete, retrieve and truncate an item.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// NoArguments are the arguments of a function call for which the client or the model gave none: every reader of arguments expects a JSON object.
const NoArguments = "{}"

// Prepare completes an item that a client creates and that Check has accepted: its name, its status, and the name and
// arguments of a call. It fails when the conversation has an item of that name.
func (c *Conversation) Prepare(w *wire.Item) *room.Failure {
	if w.ID == "" {
		w.ID = c.env.NewID("item_")
	} else if c.Find(w.ID) != nil {
		return room.Refuse("item_already_exists", "item.id", "there is an item "+w.ID+" already: choose another id, or leave it out")
	}
	if w.Type != wire.ItemMessage || w.Status != statusIncomplete { // a message that was cut off stays incomplete
		w.Status = statusCompleted
	}
	if w.Type == wire.ItemFunctionCall {
		w.CallID = cmp.Or(w.CallID, c.env.NewID("call_"))
		w.Arguments = cmp.Or(w.Arguments, NoArguments)
	}
	return nil
}

// Answered returns the item that w would repeat: the same output of the same function call, if there is one for each call with that call_id. It returns nil for all
// else: another output of a call is an item of its own.
func (c *Conversation) Answered(w wire.Item) (same *Item) {
	if w.Type != wire.ItemFunctionCallOutput {
		return nil
	}
	calls, outputs := 0, 0
	for _, it := range c.items {
		switch {
		case it.CallID != w.CallID:
		case it.Type == wire.ItemFunctionCall:
			calls++
		case it.Type == wire.ItemFunctionCallOutput:
			if outputs++; it.Output == w.Output {
				same = it
			}
		}
	}
	if outputs < max(1, calls) {
		return nil
	}
	return same
}

// Create puts an item that Prepare has completed behind the one that is named after; "" means the end and "root" the
// beginning. It returns the item and the events that announce the change.
func (c *Conversation) Create(w wire.Item, after string) (*Item, []wire.ServerEvent, *room.Failure) {
	if f := c.tooLarge(w); f != nil {
		return nil, nil, f
	}
	it, previous, events, ok := c.insert(w, after)
	if !ok {
		return nil, nil, room.Refuse("item_create_invalid_previous_item_id", "previous_item_id",
			fmt.Sprintf("there is no item %q: give the id of one, \"root\", or leave it out", after))
	}
	return it, append(events,
		&wire.ConversationItemAdded{PreviousItemID: previous, Item: w},
		&wire.ConversationItemDone{PreviousItemID: previous, Item: w},
	), nil
}

// tooLarge returns a failure for an item that the conversation cannot hold even alone.
func (c *Conversation) tooLarge(w wire.Item) *room.Failure {
	bytes := size(w)
	switch {
	case bytes > maxBytes:
		return room.Refuse("item_too_large", "item",
			fmt.Sprintf("the item takes %d bytes, and a conversation has %d: send less in one item", bytes, maxBytes))
	case c.memory != nil && !c.memory.has(c.borrowed, bytes+c.requests):
		return MemoryFull("item", "the server has no memory for this item at the moment: send less in one item, or try again later")
	}
	return nil
}

// Begin adds an item of a response at the end. It returns the item and the events that announce the change.
func (c *Conversation) Begin(w wire.Item) (*Item, []wire.ServerEvent) {
	it, previous, events := c.Append(w)
	return it, append(events, &wire.ConversationItemAdded{PreviousItemID: previous, Item: w})
}

// Done returns the event that announces that it is complete, nil when it is not in the conversation: the event would bring back an
// item that was deleted, and an out-of-band item belongs to no conversation.
func (c *Conversation) Done(it *Item) []wire.ServerEvent {
	if !c.Has(it) {
		return nil
	}
	return []wire.ServerEvent{&wire.ConversationItemDone{PreviousItemID: c.before(slices.Index(c.items, it)), Item: it.Item}}
}

// Asking returns the call of a remote tool that waits for the approval with that id; nil for none.
func (c *Conversation) Asking(id string) *Item {
	return c.first(func(it *Item) bool { return it.Asking() && it.ApprovalRequestID == id })
}

// AskingCalls returns the calls of remote tools that wait for the user's approval.
func (c *Conversation) AskingCalls() (all []*Item) {
	for _, it := range c.items {
		if it.Asking() {
			all = append(all, it)
		}
	}
	return all
}

// Lists returns the lists of MCP servers that are not complete.
func (c *Conversation) Lists() (all []*Item) {
	for _, it := range c.items {
		if it.Type == wire.ItemMCPListTools && it.Status == statusInProgress {
			all = append(all, it)
		}
	}
	return all
}

// EndList writes the tools of an MCP server, a JSON array, into the item of its list, or the error. Where the server has no memory for them, the list is empty. It returns the events that announce it.
func (c *Conversation) EndList(it *Item, tools, failure wire.Raw) []wire.ServerEvent {
	it.Status, it.Error = statusCompleted, failure
	if failure != nil {
		it.Status = statusIncomplete
	} else if it.Tools = tools; !c.charge(c.size()) {
		it.Tools = wire.Raw("[]")
	}
	return c.Done(it)
}

// BeginCall notes that the tool of the server runs which an item calls.
func (c *Conversation) BeginCall(it *Item) { it.running = true }

// EndCall writes the outcome of a tool of the server into the item of its call. failure is the error of the tool, nil for none. Where the server
// has no memory for the output, the outcome says so.
func (c *Conversation) EndCall(it *Item, output string, failure wire.Raw) {
	it.Output, it.Error, it.Status, it.running = output, failure, statusCompleted, false
	if !c.charge(c.size()) {
		it.Output, it.Error = "", wire.Raw(`{"type":"memory_full","message":"the server has no memory for the output"}`)
	}
}

// Delete removes the item with that name. It returns the events that announce the change.
func (c *Conversation) Delete(name string) ([]wire.ServerEvent, *room.Failure) {
	i := slices.IndexFunc(c.items, func(it *Item) bool { return it.ID == name })
	if i < 0 {
		return nil, unknownItem("item_delete_invalid_item_id", name)
	}
	c.speech.forget(c.items[i])
	c.unfold(c.items[i])
	c.items = slices.Delete(c.items, i, i+1)
	return []wire.ServerEvent{&wire.ConversationItemDeleted{ItemID: name}}, nil
}

// Retrieve returns the event with the item of that name. It has the item's audio in the client's formats, where all of that is kept.
func (c *Conversation) Retrieve(name string, f Formats) ([]wire.ServerEvent, *room.Failure) {
	it := c.Find(name)
	if it == nil {
		return nil, unknownItem("item_retrieve_invalid_item_id", name)
	}
	w, err := it.withAudio(f)
	if err != nil {
		return nil, &room.Failure{Type: room.TypeServer, Code: "audio_format", Param: "item_id", Message: err.Error()}
	}
	return []wire.ServerEvent{&wire.ConversationItemRetrieved{Item: w}}, nil
}

// Truncate cuts an item as a client asks. it is the item that e names, nil when there is none; sent is how much of its audio the client has.
func (c *Conversation) Truncate(it *Item, e *wire.ConversationItemTruncate, sent voice.Samples) ([]wire.ServerEvent, *room.Failure) {
	switch {
	case it == nil:
		return nil, unknownItem("item_truncate_invalid_item_id", e.ItemID)
	case it.Type != wire.ItemMessage || it.Role != "assistant" || it.clauses == nil:
		return nil, room.Refuse("unsupported_content_type", "item_id", "Only model output audio messages can be truncated")
	case e.ContentIndex != 0:
		return nil, room.Refuse(wire.CodeInvalidValue, "content_index", "the item has one part: content_index must be 0")
	case e.AudioEndMS < 0 || voice.SamplesIn(int64(e.AudioEndMS), room.OutputRate) > sent+room.OutputRate/1000:
		return nil, room.Refuse(wire.CodeInvalidValue, "audio_end_ms",
			fmt.Sprintf("Audio content of %dms is already shorter than %dms", sent.Milliseconds(room.OutputRate), e.AudioEndMS))
	}
	return c.Cut(it, e.AudioEndMS), nil
}

// Cut removes the part of an assistant's message after ms of its audio. It returns the events that announce the change: none for an item that is not in the conversation.
func (c *Conversation) Cut(it *Item, ms int) []wire.ServerEvent {
	c.unfold(it)
	it.truncate(ms)
	if !c.Has(it) {
		return nil
	}
	return []wire.ServerEvent{&wire.ConversationItemTruncated{ItemID: it.ID, AudioEndMS: ms}}
}

// unknownItem returns the failure for an item name that is not in the conversation.
func unknownItem(code, name string) *room.Failure {
	return room.Refuse(code, "item_id", fmt.Sprintf("there is no item %q in the conversation", name))
}

// Inform adds a system message to the end of the conversation, which the server itself has for the model.
func (c *Conversation) Inform(text string) (out room.List, refused *room.Failure) {
	w := wire.Item{Type: wire.ItemMessage, Role: "system", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}}}
	if refused := c.Prepare(&w); refused != nil {
		return nil, refused
	}
	_, events, refused := c.Create(w, "")
	out.SendAll(events)
	return out, refused
}
