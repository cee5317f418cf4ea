package browser_test

// A spoken question and its spoken answer, with the embedded pipeline and the browser's own microphone.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// realSpeech starts the embedded pipeline and waits until its engines are loaded.
func realSpeech(t *testing.T, g *gomega.WithT) *pipeline.Pipeline {
	t.Helper()
	p, err := embedded.New(t.Context(), embedded.Options{Models: root + "/.cache/models"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	for _, c := range p.Components() {
		g.Expect(c.State).To(gomega.Equal(pipeline.StateReady), "%s %s: %s. %s", c.Stage, c.Name, c.Detail, c.Install)
	}
	return p
}

// The browser's own microphone plays the question. The page shows captions during the speech and then the transcript, and receives the
// spoken answer.
func TestASpokenQuestionIsAnsweredAloud(t *testing.T) {
	g := matching(t)
	pipe := realSpeech(t, g)
	s := serve(t, g, pipe)
	// The file plays from the moment at which the microphone is opened. The call is connected a moment later.
	wav := filepath.Join(t.TempDir(), "question.wav")
	question := rig.Join(rig.Silence(4*time.Second), speech(t, g, "what is seven times eight"), rig.Silence(5*time.Second))
	g.Expect(os.WriteFile(wav, question.WAV(), 0o600)).To(gomega.Succeed())
	p := open(t, g, launch(t, g, rig.Options{Microphone: wav}), s.URL)

	g.Eventually(p.View).Should(gomega.HaveField("Components", gomega.And(
		gomega.HaveLen(3), gomega.HaveEach(gomega.HaveField("State", "ready")),
	)))
	p.call()
	g.Eventually(p.View).Should(gomega.HaveField("Mic", gomega.BeNumerically(">", 30)), "the level of the microphone shows")
	g.Eventually(p.View).Should(gomega.And(
		gomega.HaveField("Phase", gomega.Or(gomega.Equal("hearing"), gomega.Equal("thinking"))),
		// Which words it has is not certain: the protocol's captions only grow, so one whose words the recogniser revises stays as it is until the end.
		gomega.HaveField("Caption", gomega.Not(gomega.BeEmpty())),
	))
	p.line("user", gomega.And(gomega.HaveField("Said", wording("what is seven times eight")), gomega.HaveField("Live", false)))
	answer := p.answered("fifty-six")
	p.reaches("listening")

	heard, err := p.Heard()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(heard.LoudMS).To(gomega.BeNumerically(">", 400))
	energy, err := p.Energy()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(energy).To(gomega.BeNumerically(">", 0.001), "the connection's own statistics")
	g.Expect(understood(t, g, pipe, p)).To(gomega.ContainSubstring("fifty six"), "what the page received is that speech")
	view := p.view()
	g.Expect(view.Latency).To(gomega.BeNumerically(">", 0))
	t.Logf("answer %q, heard %.0f ms of it, energy %.4f, began %d ms after the question's end", answer.Said, heard.LoudMS, energy, view.Latency)
	p.hangUp()
}

// wording matches a text with the same words, whatever its punctuation and case.
func wording(want string) gomega.OmegaMatcher {
	return gomega.WithTransform(func(text string) string {
		return strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
			return strings.ContainsRune(" .,?!", r)
		}), " "))
	}, gomega.Equal(want))
}

// understood returns the text that the pipeline's own recogniser finds in the sound that the page has received.
func understood(t *testing.T, g *gomega.WithT, pipe *pipeline.Pipeline, p *talk) string {
	t.Helper()
	rec, err := p.Recording()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	sound, err := rig.Resampled(rec.PCM, rec.Rate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	recognition, err := pipe.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(recognition.Close()).To(gomega.Succeed()) }()
	g.Expect(recognition.Write(sound.Floats())).To(gomega.Succeed())
	g.Expect(recognition.CloseInput()).To(gomega.Succeed())
	text := ""
	for r := range recognition.Results() {
		g.Expect(r.Err).NotTo(gomega.HaveOccurred())
		if r.Final {
			text = r.Text
		}
	}
	return text
}
