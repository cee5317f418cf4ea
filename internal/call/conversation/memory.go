package conversation

// The memory of conversations: what an item and a request weigh, and the budget that all conversations of a server share.

import (
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// What an item and a content part weigh in addition to their texts, in bytes: the sizes of the Go structs and what belongs to them.
const (
	itemOverhead = 640
	partOverhead = 128
)

// size returns about how many bytes of memory an item keeps.
func size(w wire.Item) int {
	n := itemOverhead + len(w.ID) + len(w.CallID) + len(w.Name) + len(w.Arguments) + len(w.Output) + len(w.Tools) + len(w.Error) + len(w.Reason)
	for _, p := range w.Content {
		n += partOverhead + len(p.Text) + len(p.Audio) + len(p.ImageURL)
		if p.Transcript != nil {
			n += len(*p.Transcript)
		}
	}
	return n
}

// Memory is the budget of bytes that all conversations of a server share. Half of it belongs to the conversations in equal shares, so that each has its share whatever the others
// hold. The other half is a pool, from which a conversation borrows what it needs beyond its share. Memory is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	share int // the bytes of one conversation that do not count for the pool
	pool  int // the size of the pool in bytes
	free  int // how many bytes of the pool are free; negative after a Resize to less than what was borrowed
}

// NewMemory returns a budget of total bytes for at most so many conversations at a time.
func NewMemory(total, conversations int) *Memory {
	m := &Memory{}
	m.Resize(total, conversations)
	return m
}

// Resize changes the budget to total bytes for at most so many conversations at a time. A conversation keeps what it has. Its new share counts from its next change on.
func (m *Memory) Resize(total, conversations int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pool := total - total/2
	m.share = total / 2 / max(1, conversations)
	m.free += pool - m.pool
	m.pool = pool
}

// Free returns how many bytes of the pool no conversation has borrowed. It is negative after a Resize to less than what was borrowed.
func (m *Memory) Free() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free
}

// borrow changes what a conversation has borrowed, from had bytes to what its size in bytes exceeds its share by, and returns that. It
// returns false, and changes nothing, when the pool has too little for a conversation that needs more than it had.
func (m *Memory) borrow(had, size int) (has int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	want := max(0, size-m.share)
	if want > had && m.free+had < want {
		return had, false
	}
	m.free += had - want
	return want, true
}

// ShareMemory charges the conversation to a server's budget. Without a budget the limits of the conversation alone count. It is for an empty conversation.
func (c *Conversation) ShareMemory(m *Memory) { c.memory = m }

// size returns what all items take, in bytes.
func (c *Conversation) size() (bytes int) {
	for _, it := range c.items {
		bytes += size(it.Item)
	}
	return bytes
}

// has reports whether a conversation that has borrowed that much can hold size bytes.
func (m *Memory) has(borrowed, size int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return size <= m.share+borrowed+m.free
}

// MemoryFull returns the failure for what the server has no memory for. message says what the client can do.
func MemoryFull(param, message string) *room.Failure {
	return &room.Failure{Type: room.TypeServer, Code: "memory_full", Param: param, Message: message}
}

// Reserve has the budget know that the requests of the session's responses take so many bytes. It returns false, and changes nothing, when
// the budget has too little. It takes no items from the conversation.
func (c *Conversation) Reserve(bytes int) bool {
	before := c.requests
	c.requests = bytes
	if c.charge(c.size()) {
		return true
	}
	c.requests = before
	return false
}

// SizeOfRequest returns how many bytes of memory the request of a response takes: its input, with the items that it names, and its other
// texts. It returns a failure for a request that is larger than a conversation may be.
func (c *Conversation) SizeOfRequest(p *wire.ResponseParams) (bytes int, refused *room.Failure) {
	bytes = len(p.ToolChoice) + len(p.Prompt) + len(p.Metadata)
	if p.Instructions != nil {
		bytes += len(*p.Instructions)
	}
	for _, t := range p.Tools {
		bytes += partOverhead + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, w := range p.Input {
		if w.Type == wire.ItemReference {
			if it := c.Find(w.ID); it != nil {
				w = it.Item
			}
		}
		bytes += size(w)
	}
	if bytes > maxBytes {
		return 0, inputTooLarge()
	}
	return bytes, nil
}

// Close returns what the conversation has borrowed. The conversation takes no further items.
func (c *Conversation) Close() {
	c.requests = 0
	c.charge(0)
}

// charge has the budget know that the items take so many bytes. It returns false, and charges nothing, when the budget has too little.
func (c *Conversation) charge(bytes int) bool {
	if c.memory == nil {
		return true
	}
	var ok bool
	c.borrowed, ok = c.memory.borrow(c.borrowed, bytes+c.requests)
	return ok
}
