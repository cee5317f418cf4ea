package scripted

// Reading text back from the scripted synthesizer's tones.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestHeardReturnsTheSpokenText(t *testing.T) {
	p := New(Options{})
	for _, text := range []string{"You said: hello.", "One two three four,", "Tool said: {\"ok\":true}", "5", "  a"} {
		t.Run(text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			pcm := speak(t, p, text)
			g.Expect(Heard(pcm)).To(gomega.Equal(text))
			g.Expect(Heard(append(make([]int16, 1234), pcm...))).To(gomega.Equal(text), "after silence")
			x, err := pipetest.Path{Bitrate: 32000, Lead: 0.3}.Send(pcm, pipeline.OutputRate)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			x, err = pipetest.Resample(x, pipeline.InputRate, pipeline.OutputRate)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(Heard(voice.FloatToPCM16(nil, x))).To(gomega.Equal(text), "through a call")
		})
	}
}

func TestHeardEndsAtTheCut(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := speak(t, New(Options{}), "One two three four five six.")
	cell := 60 * pipeline.OutputRate / 1000
	g.Expect(Heard(pcm[:cell*13])).To(gomega.Equal("One two three"))
	g.Expect(Heard(pcm[cell*4+700:])).To(gomega.Or(gomega.Equal("two three four five six."), gomega.Equal("wo three four five six.")))
}
