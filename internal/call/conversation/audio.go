package conversation

// The audio of items that is kept for conversation.item.retrieve.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// How much audio is kept, in samples.
const (
	maxKept     = 30 * room.InputRate // samples of a conversation: 1.4 MB
	maxKeptItem = 15 * room.InputRate // samples of an item: its event stays below the 1 MiB that common clients take
)

// KeepAudio begins to keep audio. It is for WebSockets only: an event of a data channel is too small for it.
func (c *Conversation) KeepAudio() { c.keeps = true }

// AddAudio adds audio that a response has made of an item: mono, room.OutputRate.
func (c *Conversation) AddAudio(it *Item, pcm []int16) {
	if it.cut {
		return
	}
	it.length += voice.Samples(len(pcm))
	if it.num != 0 {
		c.keep(it, pcm)
	}
}

// SetRecording sets the audio of a user's item: mono, room.InputRate. Nobody may change pcm afterwards.
func (c *Conversation) SetRecording(it *Item, pcm []int16) {
	it.length = voice.Samples(len(pcm))
	c.keep(it, pcm)
	c.speech.take(it, pcm)
}

// keep adds to the audio that is kept of an item. The audio of the oldest items makes room for it. Of an item that is too long
// the beginning is kept, because the item may be truncated yet.
func (c *Conversation) keep(it *Item, pcm []int16) {
	if !c.keeps || it.unkept {
		return
	}
	it.pcm = append(it.pcm, pcm[:min(len(pcm), maxKeptItem-len(it.pcm))]...)
	kept := 0
	for _, other := range slices.Backward(c.items) {
		if kept += len(other.pcm); kept > maxKept && other != it {
			kept -= len(other.pcm)
			other.pcm, other.unkept = nil, true
		}
	}
}

// Formats are the formats of audio in events, such as wire.FormatPCM.
type Formats struct {
	Input  string // the format of user audio
	Output string // the format of the agent's audio
}

// withAudio returns an item with its audio, if all of the audio is kept. User audio is in the input format, the agent's in the output format.
func (it *Item) withAudio(f Formats) (wire.Item, error) {
	w := it.Item
	part := slices.IndexFunc(w.Content, func(c wire.Content) bool {
		return c.Type == wire.ContentInputAudio || c.Type == wire.ContentOutputAudio
	})
	if len(it.pcm) == 0 || voice.Samples(len(it.pcm)) < it.length || part < 0 {
		return w, nil
	}
	kind := f.Output
	if w.Role == "user" {
		kind = f.Input
	}
	audio, err := room.Encode(kind, it.pcm)
	if err != nil {
		return w, err
	}
	w.Content = slices.Clone(w.Content)
	w.Content[part].Audio = audio
	return w, nil
}
