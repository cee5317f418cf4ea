package session

// Answers in text that the user ends before the model has written them to their end.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// TestCutTextIsKept: the client has every word of a text that was sent, so the conversation keeps them. With its next request the model reads them, and that
// the user interrupted them.
func TestCutTextIsKept(t *testing.T) {
	for name, cut := range map[string]func(c *caller){
		"the client cancels it": func(c *caller) { c.send(`{"type":"response.cancel"}`) },
		"the client cancels it and clears the audio": func(c *caller) {
			c.send(`{"type":"response.cancel"}`)
			c.send(`{"type":"output_audio_buffer.clear"}`)
		},
		"the user speaks": func(c *caller) { c.utter("stop it now please") },
	} {
		for link, begin := range map[string]func(*testing.T) (*caller, *requestLog){"WebRTC": slowTextByWebRTC, "WebSocket": slowTextByWebSocket} {
			story(t, name+" over "+link, func(t *testing.T) {
				c, l := begin(t)
				c.settle(`"output_modalities":["text"]`)
				c.ask("say 60 words")
				for range 5 {
					first(c, "response.output_text.delta")
				}
				cut(c)
				done := next[*wire.ResponseDone](c, "response.done").Response
				sent := ""
				for _, e := range c.All() {
					if d, is := e.(*wire.ResponseOutputTextDelta); is && d.ResponseID == done.ID {
						sent += d.Delta
					}
				}
				c.g.Expect(sent).To(gomega.HavePrefix("One two three four"))
				c.g.Expect(done.Status).To(gomega.Equal("cancelled"))
				c.g.Expect(done.Output).To(gomega.HaveLen(1))
				item := done.Output[0]
				c.g.Expect(item.Status).To(gomega.Equal("incomplete"))
				c.g.Expect(item.Content).To(gomega.Equal([]wire.Content{{Type: wire.ContentOutputText, Text: sent}}))
				c.send(`{"type":"conversation.item.retrieve","item_id":"` + item.ID + `"}`)
				c.g.Expect(next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item).To(gomega.Equal(item))
				c.ask("go on")
				first(c, "response.done")
				read := l.request().Messages[1]
				c.g.Expect(read.Text).To(gomega.Equal(sent))
				c.g.Expect(read.Interrupted).To(gomega.BeTrue())
			})
		}
	}
}

// slowText writes a word each 100 ms.
const slowText = `model: {first_token: 100ms, token: 100ms}`

func slowTextByWebRTC(t *testing.T) (*caller, *requestLog) {
	p, l := remembered(byScript(t, slowText))
	return byWebRTC(t, p), l
}

func slowTextByWebSocket(t *testing.T) (*caller, *requestLog) {
	p, l := remembered(byScript(t, slowText))
	return byWebSocket(t, p), l
}

// A text that ends at the limit of its tokens was not interrupted.
func TestTextThatEndsAtItsLimit(t *testing.T) {
	story(t, "the model reads the text and of no interruption", func(t *testing.T) {
		c, l := slowTextByWebSocket(t)
		c.settle(`"output_modalities":["text"],"max_output_tokens":4`)
		c.ask("say 60 words")
		item := next[*wire.ResponseDone](c, "response.done").Response.Output[0]
		c.g.Expect(item.Status).To(gomega.Equal("incomplete"))
		c.ask("go on")
		first(c, "response.done")
		read := l.request().Messages[1]
		c.g.Expect(read.Text).To(gomega.Equal(item.Content[0].Text))
		c.g.Expect(read.Interrupted).To(gomega.BeFalse())
	})
}
