package embedded

// The embedded pipeline with real engines, and without them.

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/flite"
	"github.com/antiphon-rt/antiphon/internal/engine/probe"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fetched is the folder of the models that scripts/models.sh fetches.
const fetched = "../../../.cache/models"

func open(t *testing.T, o Options) *pipeline.Pipeline {
	t.Helper()
	g := gomega.NewWithT(t)
	p, err := New(t.Context(), o)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(p.Close()).To(gomega.Succeed()) })
	return p
}

// say returns a text as synthesised speech at the recogniser's rate, with silence around it.
func say(t *testing.T, p *pipeline.Pipeline, text string) []float32 {
	t.Helper()
	g := gomega.NewWithT(t)
	down, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm := make([]float32, pipeline.InputRate*3/10)
	g.Expect(p.Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: text, Voice: "rms"}, func(chunk []int16) error {
		pcm = down.Append(pcm, voice.PCM16ToFloat(nil, chunk))
		return nil
	})).To(gomega.Succeed())
	return append(down.Flush(pcm), make([]float32, pipeline.InputRate/2)...)
}

// A spoken question is recognised while it is spoken, and answered.
func TestQuestionAndAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	p := open(t, Options{Processes: 1, Models: fetched})
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	for _, c := range p.Components() {
		g.Expect(c.State).To(gomega.Equal(pipeline.StateReady), c.Name)
	}
	for question, want := range map[string]string{
		"What is seven times eight?": "Seven times eight is fifty-six.",
		"Count to one hundred.":      "One, two, three, ",
		"Tell me a story.":           "Once there were two choirs",
	} {
		u, err := p.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Write(say(t, p, question))).To(gomega.Succeed())
		first := <-u.Results()
		g.Expect(first.Final).To(gomega.BeFalse(), "a partial result comes before the end")
		g.Expect(u.CloseInput()).To(gomega.Succeed())
		var last pipeline.TranscriptResult
		for last = range u.Results() {
			g.Expect(last.Err).NotTo(gomega.HaveOccurred())
		}
		g.Expect(u.Close()).To(gomega.Succeed())
		g.Expect(strings.EqualFold(last.Text, question)).To(gomega.BeTrue(), last.Text)
		answer := ""
		_, err = p.Model.Generate(t.Context(), pipeline.Request{Messages: []pipeline.Message{{Role: pipeline.RoleUser, Text: last.Text}}},
			func(e pipeline.ModelEvent) error {
				if d, ok := e.(pipeline.TextDelta); ok {
					answer += d.Text
				}
				return nil
			})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(answer).To(gomega.HavePrefix(want))
	}
}

// The pipeline works as antiphon doctor tries it.
func TestProbe(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, r := range probe.Run(t.Context(), open(t, Options{Processes: 1, Models: fetched})) {
		g.Expect(r.Err).NotTo(gomega.HaveOccurred(), r.Stage)
		if r.Stage == pipeline.StageTranscriber {
			g.Expect(r.Said).NotTo(gomega.BeEmpty())
			g.Expect(r.Findings()).NotTo(gomega.ContainElement(gomega.ContainSubstring("recognised")))
		}
		t.Log(r)
	}
}

// Without the packages the pipeline can be opened all the same. It says which engine is missing and which command installs it.
func TestNothingInstalled(t *testing.T) {
	g := gomega.NewWithT(t)
	empty := t.TempDir()
	p := open(t, Options{
		Flite: filepath.Join(empty, "flite"), Models: empty,
	})
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	for _, c := range p.Components() {
		if c.Stage == pipeline.StageModel {
			g.Expect(c.State).To(gomega.Equal(pipeline.StateReady))
			continue
		}
		g.Expect(c.State).To(gomega.Equal(pipeline.StateMissing), c.Name)
		g.Expect(c.Install).To(gomega.Equal(map[string]string{
			pipeline.StageTranscriber: sherpa.Install, pipeline.StageSynthesizer: flite.Install,
		}[c.Stage]))
		g.Expect(c.Detail).NotTo(gomega.BeEmpty())
	}
	_, err := p.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	g.Expect(err.Error()).To(gomega.ContainSubstring("antiphon models get neural-en"))
	err = p.Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: "hello"}, func([]int16) error { return nil })
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
}
