package conversation

// The user's speech for a model that hears: the audio of the newest spoken message.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxSpeech is the longest speech that a model gets as audio, in samples at room.InputRate: 30 s, which is 1.4 MB. Of longer speech it gets the transcript.
const maxSpeech = 30 * room.InputRate

// audioTokens is how many tokens a second of speech is counted as. No server says how many it has. Qwen2-Audio has 25, OpenAI's models have 10.
const audioTokens = 25

// speech is the audio of the newest spoken message of the user. The zero value is that of a model that does not hear.
type speech struct {
	wanted bool         // the model hears
	item   machine.Item // the newest spoken message; 0 for none
	pcm    []int16      // its audio at room.InputRate, which nobody changes; nil for speech that is too long
}

// hears reports whether a model hears.
func hears(m pipeline.Model) bool {
	a, ok := m.(pipeline.AudioModel)
	return ok && a.HearsAudio()
}

// Hears reports whether the model gets audio of the user.
func (c *Conversation) Hears() bool { return c.speech.wanted }

// take keeps the audio of an item, if no newer item has audio.
func (s *speech) take(it *Item, pcm []int16) {
	if !s.wanted || it.num < s.item {
		return
	}
	s.item, s.pcm = it.num, nil
	if len(pcm) <= maxSpeech {
		s.pcm = pcm
	}
}

// forget drops the audio of an item that was deleted.
func (s *speech) forget(it *Item) {
	if s.item == it.num {
		s.pcm = nil
	}
}

// speechOf returns the audio of an item for the model; nil if it gets the transcript alone.
func (c *Conversation) speechOf(it *Item) []int16 {
	if it.num != c.speech.item {
		return nil
	}
	return c.speech.pcm
}

// spoken returns the audio of the newest item of a response's own input that has some, and the index of that item; -1 if there is none.
func (c *Conversation) spoken(items []wire.Item, name string) (index int, pcm []int16) {
	for i, w := range slices.Backward(items) {
		if w.Type != wire.ItemReference {
			pcm = c.decode(w, name)
		} else if it := c.Find(w.ID); it != nil {
			pcm = c.speechOf(it)
		}
		if pcm != nil {
			return i, pcm
		}
	}
	return -1, nil
}

// Hear takes the audio that a client gave an item together with its transcript. name is the format that it is in. The audio of an item without
// a transcript comes by SetRecording.
func (c *Conversation) Hear(it *Item, name string) {
	if pcm := c.decode(it.Item, name); pcm != nil {
		c.speech.take(it, pcm)
	}
}

// decode returns the audio of an item that has it together with its transcript; nil if there is none, if it is too long, or if the model does not hear.
func (c *Conversation) decode(w wire.Item, name string) []int16 {
	part := audioPart(w)
	if !c.speech.wanted || part < 0 || len(w.Content[part].Audio) == 0 || len(w.Content[part].Audio) > 2*maxSpeech {
		return nil
	}
	var d room.Decoder
	pcm, err := d.Decode(name, w.Content[part].Audio)
	if err != nil {
		return nil
	}
	if pcm = append(pcm, d.Rest()...); len(pcm) > maxSpeech {
		return nil
	}
	return pcm
}

// audioPart returns the index of the audio in a message of the user; -1 if it has none, or more than one.
func audioPart(w wire.Item) int {
	is := func(p wire.Content) bool { return p.Type == wire.ContentInputAudio }
	part := slices.IndexFunc(w.Content, is)
	if w.Role != pipeline.RoleUser || part < 0 || slices.ContainsFunc(w.Content[part+1:], is) {
		return -1
	}
	return part
}

// audio returns the audio of a message as the model gets it; nil if there is none.
func audio(w wire.Item, pcm []int16) *pipeline.Audio {
	part := audioPart(w)
	if len(pcm) == 0 || part < 0 {
		return nil
	}
	return &pipeline.Audio{PCM: pcm, Rest: contentText(slices.Delete(slices.Clone(w.Content), part, part+1))}
}
