package scripted

// The optional interfaces of the scripted stages.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestPromptsWindowAndProbabilities(t *testing.T) {
	g := gomega.NewWithT(t)
	s, err := Parse("", []byte(`
prompts:
  - {id: p, version: "3", text: "Be {{mood}}."}
transcriber: {logprobs: true}
model: {window: 77}
`))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := New(Options{Script: s})
	g.Expect(p.Prompts).To(gomega.Equal(map[string]pipeline.Prompt{"p": {Version: "3", Text: "Be {{mood}}."}}))
	g.Expect(p.Transcriber.(pipeline.WordScorer).Scores()).To(gomega.BeTrue())
	g.Expect(p.Model.(pipeline.TokenCounter).ContextWindow()).To(gomega.Equal(77))

	plain := New(Options{})
	g.Expect(plain.Transcriber.(pipeline.WordScorer).Scores()).To(gomega.BeFalse())
	g.Expect(plain.Model.(pipeline.TokenCounter).ContextWindow()).To(gomega.Equal(pipeline.DefaultContextWindow))
	g.Expect(plain.Model.(pipeline.TokenCounter).CountTokens("two words")).To(gomega.Equal(2))
}

func TestBadTraits(t *testing.T) {
	for script, want := range map[string]string{
		"prompts: [{id: x}]":   "text is missing",
		"model: {window: -1}":  ":1:17: -1 is out of range",
		"prompts: [{text: x}]": "id is missing",
		"transcriber: {rules: [{text: a, speakers: [{name: b, text: c}]}]}": "both text and speakers",
	} {
		_, err := Parse("", []byte(script))
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), script)
	}
}
