package session

// A user who talks for ten minutes.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// The pauses of a user who talks for ten minutes end no turn. The server commits the open turn when the buffer is full, and no word is lost there.
func TestMonologue(t *testing.T) {
	story(t, "ten minutes", func(t *testing.T) {
		c := newCaller(t, plain()).start()
		c.send(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"any"}}}}}`)
		first(c, "session.updated")
		word := append(scripted.Tones("hello there and so on"), make([]int16, 300*24)...)
		words := 10 * 60 * 24000 / len(word)
		for range words {
			c.speak(word)
		}
		c.quiet(1000)
		heard, turns := 0, 0
		for _, e := range c.All() {
			if e, is := e.(*wire.ConversationItemInputAudioTranscriptionCompleted); is {
				turns++
				heard += strings.Count(e.Transcript, "hello there and so on")
			}
		}
		c.g.Expect(turns).To(gomega.Equal(2))
		c.g.Expect(heard).To(gomega.Equal(words))
	})
}
