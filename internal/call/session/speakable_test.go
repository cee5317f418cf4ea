package session

// What the synthesizer says of a response that is written for a screen.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMarkdownIsNotSpoken(t *testing.T) {
	const answer = "**Well**, here it is, at last:\n```\nx = 1\n```\nThat is [all](http://example.com)."
	story(t, "the transcript has the marks, and the audio has the words", func(t *testing.T) {
		p := byScript(t, `model: {replies: [{when: {contains: show}, say: "**Well**, here it is, at last:\n`+
			"```\\nx = 1\\n```"+`\nThat is [all](http://example.com)."}]}`)
		p.Speakable = speakable.New(speakable.Any)
		c := byWebSocket(t, p)
		c.ask("show me")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.Equal(answer))
		said, _ := c.heard(done.ID, wire.FormatPCM)
		c.g.Expect(said).To(gomega.Equal("Well, here it is, at last:That is all."))
	})
}
