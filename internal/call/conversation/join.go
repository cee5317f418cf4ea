package conversation

// Two turns of the user that become one, because the user has gone on after a pause.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Joins reports whether the user's message a may become one with the message b, or with what the user says now if b is 0: its transcript is there, and nothing
// stands between the two but spoken messages of the assistant that were cut, and of which the user has heard at most heard samples together.
func (c *Conversation) Joins(a, b machine.Item, heard voice.Samples) bool {
	first, end := c.span(a, b)
	if first < 0 || end <= first {
		return false
	}
	if it := c.items[first]; it.pending || it.summarised || contentText(it.Content) == "" {
		return false
	}
	for _, it := range c.items[first+1 : end] {
		spoken := it.Type == wire.ItemMessage && it.Role == pipeline.RoleAssistant && len(it.Content) == 1 && it.Content[0].Type == wire.ContentOutputAudio
		if heard -= it.length; !spoken || !it.cut || heard < 0 {
			return false
		}
	}
	return true
}

// span returns the index of item a, and that of item b, or the number of items if b is 0. An index is -1 if there is no such item.
func (c *Conversation) span(a, b machine.Item) (first, end int) {
	index := func(num machine.Item) int {
		return slices.IndexFunc(c.items, func(it *Item) bool { return it.num == num })
	}
	if end = len(c.items); b != 0 {
		end = index(b)
	}
	return index(a), end
}

// Join removes the items from a on, up to b, which Joins has allowed. It returns the events that announce that, and the audio of a at room.InputRate; nil if
// not all of it is kept.
func (c *Conversation) Join(a, b machine.Item) (pcm []int16, events []wire.ServerEvent) {
	first, end := c.span(a, b)
	it := c.items[first]
	if pcm = c.speechOf(it); pcm == nil && voice.Samples(len(it.pcm)) == it.length {
		pcm = it.pcm
	}
	for _, gone := range slices.Backward(slices.Clone(c.items[first:end])) {
		deleted, _ := c.Delete(gone.ID) // it is there
		events = append(events, deleted...)
	}
	return pcm, events
}
