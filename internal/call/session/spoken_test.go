package session

// What a client learns of the words in the agent's audio: which piece of the text is where, and which packets play it.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestAClientLearnsWhereTheWordsAre(t *testing.T) {
	story(t, "the pieces are the text, and each has its audio", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.send(`{"type":"antiphon.hello"}`)
		c.ask("one, two, three. And four, which is more than the others. Five")
		begun := next[*wire.AntiphonResponsePiece](c, "antiphon.response.piece")
		c.g.Expect([]int{begun.Characters, begun.AudioStartMS, begun.AudioEndMS}).To(gomega.Equal([]int{0, 0, 0}))
		c.g.Expect(c.count("response.output_audio_transcript.delta")).To(gomega.BeZero(), "the item is named before its text")
		perCharacter := int(scripted.Character.Milliseconds())
		characters := 0
		for text := "You said: one, two, three. And four, which is more than the others. Five"; characters < len(text); {
			open := next[*wire.AntiphonResponsePiece](c, "antiphon.response.piece")
			made := next[*wire.AntiphonResponsePiece](c, "antiphon.response.piece")
			c.g.Expect(open.AudioEndMS).To(gomega.BeZero())
			c.g.Expect([]int{open.FirstCharacter, open.Characters}).To(gomega.Equal([]int{characters, made.Characters}))
			c.g.Expect(made.AudioStartMS).To(gomega.BeNumerically("~", characters*perCharacter, 5))
			characters += made.Characters
			c.g.Expect(made.AudioEndMS).To(gomega.BeNumerically("~", characters*perCharacter, 5))
		}
	})
	story(t, "the packets are named when the response plays, and when it goes on after a hold", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.send(`{"type":"antiphon.hello"}`)
		c.ask("say 40 words")
		playing := next[*wire.AntiphonResponsePlaying](c, "antiphon.response.playing")
		at, ok := c.pacer.PositionAt(uint32(playing.RTPTimestamp))
		c.g.Expect(ok).To(gomega.BeTrue())
		c.g.Expect(int(at.At) / 24).To(gomega.Equal(playing.AudioMS))
		c.quiet(2000)
		c.speak(longSound())
		held := next[*wire.AntiphonResponsePlaying](c, "antiphon.response.playing")
		c.g.Expect(held.Held).To(gomega.BeTrue())
		c.g.Expect(held.AudioMS - playing.AudioMS).To(gomega.Equal((held.RTPTimestamp - playing.RTPTimestamp) / 48))
		c.quiet(700)
		again := next[*wire.AntiphonResponsePlaying](c, "antiphon.response.playing")
		c.g.Expect(again.Held).To(gomega.BeFalse())
		c.g.Expect(again.AudioMS).To(gomega.BeNumerically("~", held.AudioMS, 20))
		c.g.Expect(again.RTPTimestamp).To(gomega.BeNumerically(">", held.RTPTimestamp))
	})
	story(t, "another client learns nothing of it", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("one, two")
		first(c, "output_audio_buffer.stopped")
		c.g.Expect(c.count("antiphon.response.piece") + c.count("antiphon.response.playing")).To(gomega.BeZero())
		wait(time.Second)
	})
}
