package session

// Images in messages: which are taken, and what the model gets.

import (
	"encoding/base64"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func dataURL(kind, file string) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(file))
}

const (
	png  = "\x89PNG\r\n\x1a\n…"
	jpeg = "\xff\xd8\xff\xe0…"
)

func TestImages(t *testing.T) {
	show := func(url, more string) string {
		return `{"type":"message","role":"user","content":[{"type":"input_text","text":"what is this"},{"type":"input_image","image_url":"` + url + `"` + more + `}]}`
	}

	story(t, "an image is kept and given to the model, which says that it cannot see", func(t *testing.T) {
		p, l := remembered(plain())
		c := byWebSocket(t, p)
		c.send(`{"type":"conversation.item.create","item":` + show(dataURL("image/png", png), `,"detail":"low"`) + `}`)
		added := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.g.Expect(added.Content[1]).To(gomega.And(gomega.HaveField("ImageURL", dataURL("image/png", png)), gomega.HaveField("Detail", "low")))
		c.g.Expect(c.answer().Output[0].Content[0].Text).To(gomega.Equal(pipeline.NoVisionReply))
		c.g.Expect(l.request().Messages[0]).To(gomega.Equal(pipeline.Message{
			Role: "user", Text: "what is this", Images: []pipeline.Image{{MIME: "image/png", Data: []byte(png), Detail: "low"}},
		}))
		expectSessionWorks(c)
	})

	story(t, "an image alone is a message, also of a response's own input", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.askOutOfBand(asText + `,"input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"` + dataURL("image/jpeg", jpeg) + `"}]}]`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal(pipeline.NoVisionReply))
	})

	for _, row := range []struct{ name, url, more, param string }{
		{"an address", "https://example.org/cat.png", "", "image_url"},
		{"an odd detail", dataURL("image/png", png), `,"detail":"huge"`, "detail"},
	} {
		story(t, row.name+" is refused", func(t *testing.T) {
			c := byWebSocket(t, plain())
			c.send(`{"type":"conversation.item.create","event_id":"e","item":` + show(row.url, row.more) + `}`)
			e := next[*wire.ErrorEvent](c, "error").Error
			c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID)}).To(gomega.Equal([]string{"invalid_value", "item.content[1]." + row.param, "e"}))
			c.send(`{"type":"response.create","response":{"input":[` + show(row.url, row.more) + `]}}`)
			c.g.Expect(deref(next[*wire.ErrorEvent](c, "error").Error.Param)).To(gomega.Equal("response.input[0].content[1]." + row.param))
			expectSessionWorks(c)
		})
	}
}
