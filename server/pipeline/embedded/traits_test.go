package embedded

// Which optional interfaces the embedded stages implement.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestOptionalInterfacesOfTheStages(t *testing.T) {
	g := gomega.NewWithT(t)
	p := open(t, Options{})
	modest := p.Transcriber.(pipeline.ConfigNegotiator)
	for _, language := range []string{"", "en", "en-US", "EN"} {
		c, err := modest.NegotiateConfig(pipeline.TranscribeConfig{Language: language, Model: "m", Prompt: "tea"})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(c).To(gomega.Equal(pipeline.TranscribeConfig{Language: language, Model: "m"}))
	}
	_, err := modest.NegotiateConfig(pipeline.TranscribeConfig{Language: "de"})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("English")))

	voiced := p.Synthesizer.(pipeline.VoiceChecker)
	g.Expect(voiced.CheckVoice("marin")).To(gomega.Succeed())
	g.Expect(voiced.CheckVoice("choir")).To(gomega.MatchError(pipeline.ErrUnknownVoice))

	counter := p.Model.(pipeline.TokenCounter)
	g.Expect(counter.CountTokens("two words")).To(gomega.Equal(2))
	g.Expect(counter.ContextWindow()).To(gomega.Equal(pipeline.DefaultContextWindow))
	_, sure := p.Transcriber.(pipeline.WordScorer)
	g.Expect(sure).To(gomega.BeFalse())
}

func TestTheAssistantCannotSee(t *testing.T) {
	g := gomega.NewWithT(t)
	p := open(t, Options{})
	said := ""
	_, err := p.Model.Generate(t.Context(), pipeline.Request{Messages: []pipeline.Message{
		{Role: pipeline.RoleUser, Text: "what is two plus two", Images: []pipeline.Image{{MIME: "image/png"}}},
	}}, func(e pipeline.ModelEvent) error {
		if d, ok := e.(pipeline.TextDelta); ok {
			said += d.Text
		}
		return nil
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(said).To(gomega.HavePrefix(pipeline.NoVisionReply))
}
