package session

import (
	"slices"

	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// How much audio is kept for conversation.item.retrieve, in samples. It is kept over WebSockets only: an event of a data channel
// is too small for it.
const (
	maxSound = 30 * format.InputRate // of a conversation: 1.4 MB
	maxPiece = 15 * format.InputRate // of an item: its event stays below the 1 MiB that common clients take
)

// keepTurn keeps the user's audio with its item.
func (s *Session) keepTurn(it *item, pcm []int16) {
	it.said = voice.Samples(len(pcm))
	s.keepSound(it, pcm)
}

// keepSound adds to the audio that is kept of an item. The oldest items' goes for it. Of an item that is too long its begin is
// kept: it may be cut yet.
func (s *Session) keepSound(it *item, pcm []int16) {
	if s.player.ServerPaced() || it.mute {
		return
	}
	it.pcm = append(it.pcm, pcm[:min(len(pcm), maxPiece-len(it.pcm))]...)
	kept := 0
	for _, other := range slices.Backward(s.conversation.items) {
		if kept += len(other.pcm); kept > maxSound && other != it {
			kept -= len(other.pcm)
			other.pcm, other.mute = nil, true
		}
	}
}

// withSound is an item with its audio, where all of that is kept: the user's in the format of the input, the agent's in that of the output.
func (s *Session) withSound(it *item) wire.Item {
	w := it.Item
	part := slices.IndexFunc(w.Content, func(c wire.Content) bool {
		return c.Type == wire.ContentInputAudio || c.Type == wire.ContentOutputAudio
	})
	if len(it.pcm) == 0 || voice.Samples(len(it.pcm)) < it.said || part < 0 {
		return w
	}
	kind := s.settings.OutputFormat()
	if w.Role == "user" {
		kind = s.settings.InputFormat()
	}
	audio, err := format.Whole(kind, it.pcm)
	if err != nil {
		s.log.Error("a format of audio cannot be made", "err", err)
		return w
	}
	w.Content = slices.Clone(w.Content)
	w.Content[part].Audio = audio
	return w
}
