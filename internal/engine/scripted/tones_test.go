package scripted

// The tones that carry text, through codecs, noise and changes of level.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func hear(t *testing.T, s *Script, pcm []float32) pipetest.Seen {
	t.Helper()
	g := gomega.NewWithT(t)
	tr, err := New(Options{Script: s}).Transcriber.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer tr.Close()
	seen, err := pipetest.Collect(tr, pcm)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return seen
}

// TestTonesSurviveTheWay sends texts through codecs, resampling, noise and changes of level.
func TestTonesSurviveTheWay(t *testing.T) {
	texts := []string{
		"hello", "what is two plus two", "say 20 words", "x", "Grüße, 你好 👋!", "{\"a\": [1, 2]}", strings.Repeat("a long one ", 14),
		"0000 ~~~~ ``` zzz \x00\x01\u00ff",
	}
	for name, path := range map[string]pipetest.Path{
		"resampled":    {},
		"opus 12k":     {Bitrate: 12000, Lead: 0.3},
		"opus 16k":     {Bitrate: 16000, Lead: 0.3},
		"opus 24k":     {Bitrate: 24000, Lead: 0.31},
		"opus 32k":     {Bitrate: 32000, Lead: 0.322},
		"opus 64k":     {Bitrate: 64000, Lead: 0.333},
		"quiet":        {Bitrate: 32000, Lead: 0.25, Gain: 0.1},
		"noise 20 dB":  {Bitrate: 32000, Lead: 0.25, Noise: 0.012},
		"cut tail off": {Bitrate: 32000},
	} {
		for _, text := range texts {
			if name != "opus 24k" && name != "resampled" && text != "what is two plus two" {
				continue // each text one way, and one text each way
			}
			t.Run(name+"/"+text[:min(len(text), 8)], func(t *testing.T) {
				g := gomega.NewWithT(t)
				pcm, err := path.Send(Tones(text), pipeline.OutputRate)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				seen := hear(t, nil, pcm)
				g.Expect(seen.Err).NotTo(gomega.HaveOccurred())
				g.Expect(seen.Text).To(gomega.Equal(text))
			})
		}
	}
}

// TestTonesAtAnyOffset: the demodulator finds its clock at any offset of the tones.
func TestTonesAtAnyOffset(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm, err := pipetest.Path{}.Send(Tones("any offset"), pipeline.OutputRate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for offset := range 85 {
		seen := hear(t, nil, append(make([]float32, offset), pcm...))
		g.Expect(seen.Text).To(gomega.Equal("any offset"), fmt.Sprint(offset))
	}
}

// TestTonesArePartial feeds the engine itself, since a transcription leaves out what its reader is too slow for.
func TestTonesArePartial(t *testing.T) {
	g := gomega.NewWithT(t)
	const text = "the quick brown fox"
	pcm, err := pipetest.Path{Bitrate: 32000, Lead: 0.3}.Send(Tones(text), pipeline.OutputRate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	e := &engine{rules: &TranscriberRules{}, analyser: newAnalyser()}
	s, err := e.Open(t.Context(), backend.Config{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	seen, ends := map[string]bool{}, 0
	for at := 0; at < len(pcm); at += 1600 {
		u, err := s.Feed(t.Context(), pcm[at:min(at+1600, len(pcm))])
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(text).To(gomega.HavePrefix(u.Partial))
		seen[u.Partial] = true
		if u.Boundary == backend.EndOfUtterance {
			ends++
			g.Expect(u.Partial).To(gomega.Equal(text))
		}
	}
	g.Expect(len(seen)).To(gomega.BeNumerically(">", 8))
	g.Expect(ends).To(gomega.Equal(1))
	g.Expect(s.Finish(t.Context())).To(gomega.Equal(backend.Result{Text: text, Boundary: backend.EndOfUtterance}))
	g.Expect(hear(t, nil, pcm[:len(pcm)/2]).Text).To(gomega.And(gomega.HavePrefix("the q"), gomega.HaveLen(len("the qui"))), "cut in the middle")
}

func TestTwoMessagesAreTwoTexts(t *testing.T) {
	g := gomega.NewWithT(t)
	a, _ := pipetest.Path{Lead: 0.2}.Send(Tones("one"), pipeline.OutputRate)
	b, _ := pipetest.Path{Lead: 0.2}.Send(Tones("two"), pipeline.OutputRate)
	g.Expect(hear(t, nil, append(a, b...)).Text).To(gomega.Equal("one two"))
}

// TestTheDetectorTakesTonesForSpeech: the detector of client and server takes the tones, and the spoken answers, for speech.
func TestTheDetectorTakesTonesForSpeech(t *testing.T) {
	p := New(Options{})
	for name, pcm24 := range map[string][]int16{"message": Tones("is this a voice, or what"), "answer": speak(t, p, "You said: is this a voice")} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			pcm, err := pipetest.Path{Bitrate: 32000, Lead: 0.5}.Send(pcm24, pipeline.OutputRate)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			d := voice.NewDetector(voice.DetectorConfig{})
			speech, first, last := 0, -1, 0
			for i := 0; (i+1)*voice.FrameSize <= len(pcm); i++ {
				if d.Frame(pcm[i*voice.FrameSize : (i+1)*voice.FrameSize]).Speech {
					speech++
					last = i
					if first < 0 {
						first = i
					}
				}
			}
			frames := len(pcm24) / 240
			t.Logf("speech in %d of %d frames, from %d to %d", speech, frames, first-50, last-50)
			g.Expect(speech).To(gomega.BeNumerically(">", frames*9/10))
			g.Expect(first).To(gomega.BeNumerically("<", 50+20), "heard within 200 ms")
		})
	}
}

func speak(t *testing.T, p *pipeline.Pipeline, text string) []int16 {
	t.Helper()
	var pcm []int16
	err := p.Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: text}, func(chunk []int16) error {
		pcm = append(pcm, chunk...)
		return nil
	})
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return pcm
}
