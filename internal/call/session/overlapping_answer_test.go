package session

// Answers of one word that overlap the agent's question.

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestOneWordAnswersThatOverlapTheQuestion: a word that begins before the end of the agent's question is answered.
func TestOneWordAnswersThatOverlapTheQuestion(t *testing.T) {
	const question = "how many of them would you like to have today, sir?"
	for _, media := range []bool{true, false} {
		for _, before := range []time.Duration{0, 300 * time.Millisecond, 700 * time.Millisecond} {
			for _, word := range []string{"six", "bob", "yes", "ok"} {
				story(t, fmt.Sprintf("%s, %v before the end (WebRTC %t)", word, before, media), func(t *testing.T) {
					open := byWebSocket
					if media {
						open = byWebRTC
					}
					c := open(t, afterSound{words: word, after: 300 * time.Millisecond}.pipeline())
					c.answersNearTheEnd(question, word, before)
				})
			}
		}
	}
}

// TestOneWordAnswersWithoutLiveWords: the recogniser tells a word only once the turn is over. A word over the last sounds of a response is
// answered all the same.
func TestOneWordAnswersWithoutLiveWords(t *testing.T) {
	for _, said := range []string{"how many of them would you like to have today, sir?", "they are all there, and nothing is left to do."} {
		for _, before := range []time.Duration{0, 150 * time.Millisecond, 300 * time.Millisecond} {
			byEach := func(open func(*testing.T, *pipeline.Pipeline) *caller) func(*testing.T) {
				return func(t *testing.T) {
					open(t, afterSound{words: "six", after: time.Hour}.pipeline()).answersNearTheEnd(said, "six", before)
				}
			}
			story(t, fmt.Sprintf("%v before the end of %q (WebRTC)", before, said), byEach(byWebRTC))
			story(t, fmt.Sprintf("%v before the end of %q (WebSocket)", before, said), byEach(byWebSocket))
		}
	}
}

// answersNearTheEnd lets the agent say a text, and the user say a word so long before the end of that. It expects an answer to the word.
func (c *caller) answersNearTheEnd(text, word string, before time.Duration) {
	c.t.Helper()
	c.quiet(200)
	c.ask(text)
	said := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
	length := time.Duration(len("You said: "+text)) * 60 * time.Millisecond
	c.quiet(int((length - before - 100*time.Millisecond).Milliseconds()))
	c.speak(scripted.Tones(word)[:24*420])
	c.quiet(1500)
	committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
	c.g.Expect(committed.ItemID).NotTo(gomega.Equal(said))
	for {
		response := next[*wire.ResponseDone](c, "response.done").Response
		if len(response.Output) == 1 && response.Output[0].ID == said {
			continue // what the agent said, which may end later
		}
		c.g.Expect(response.Status).To(gomega.Equal("completed"))
		c.g.Expect(response.Output[0].Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("You said: " + word)))
		return
	}
}
