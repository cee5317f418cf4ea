package scripted

// The scripted synthesizer: length, chunks, rules and refusals.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func rules(t *testing.T, yaml string) *pipeline.Pipeline {
	t.Helper()
	s, err := Parse("script.yaml", []byte(yaml))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return New(Options{Script: s})
}

// TestLengthIsComputed: sixty milliseconds a character, to the sample, in chunks of 20 to 100 ms.
func TestLengthIsComputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for text, speed := range map[string]float64{
			"a": 1, "hello, world": 1, "Grüße 👋": 1, "faster": 1.5, "slower": 0.5, "too fast": 100, "default": 0, "": 1, strings.Repeat("x", 1000): 1,
		} {
			g := gomega.NewWithT(t)
			cell := 1440.0
			if speed > 0 {
				cell /= min(speed, 4)
			}
			n := 0
			start := time.Now()
			u := pipeline.Utterance{Text: text, Speed: speed}
			err := New(Options{}).Synthesizer.Synthesize(t.Context(), u, func(pcm []int16) error {
				g.Expect(len(pcm)).To(gomega.BeNumerically("<=", pipeline.MaxChunk))
				n += len(pcm)
				return nil
			})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(n).To(gomega.Equal(len([]rune(text))*int(cell+0.5)), text)
			audio := time.Duration(n) * time.Second / pipeline.OutputRate
			g.Expect(time.Since(start)).To(gomega.BeNumerically("~", audio/20, time.Microsecond), "twenty times faster than real time")
		}
	})
}

func TestFirstAudioIsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		start := time.Now()
		done := errors.New("done")
		err := New(Options{}).Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: "hello"}, func([]int16) error {
			g.Expect(time.Since(start)).To(gomega.Equal(time.Millisecond))
			return done
		})
		g.Expect(err).To(gomega.MatchError(done))
	})
}

func TestSpeechIsAudible(t *testing.T) {
	g := gomega.NewWithT(t)
	var power, peak float64
	pcm := speak(t, New(Options{}), "How loud is this?")
	for _, v := range pcm {
		x := float64(v) / 32768
		power += x * x
		peak = max(peak, x, -x)
	}
	g.Expect(power/float64(len(pcm))).To(gomega.BeNumerically(">", 0.001), "-30 dBFS")
	g.Expect(peak).To(gomega.BeNumerically("<", 0.9))
}

func TestSpeakRules(t *testing.T) {
	p := rules(t, `
synthesizer:
  character: 20ms
  speedup: 1
  rules:
    - {when: {contains: boom}, after: 40ms, fail: no voice}
    - {when: {contains: stuck}, after: 60ms, stall: true}
    - {when: {contains: slow}, delay: 3s}
`)
	for text, want := range map[string]struct {
		samples int
		took    time.Duration
		err     error
	}{
		"boom!":    {960, 40 * time.Millisecond, ErrScripted},
		"stuck":    {1440, 10 * time.Second, context.DeadlineExceeded},
		"slow one": {8 * 480, 3160 * time.Millisecond, nil},
		"plain":    {5 * 480, 100 * time.Millisecond, nil},
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gomega.NewWithT(t)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				n := 0
				err := p.Synthesizer.Synthesize(ctx, pipeline.Utterance{Text: text}, func(pcm []int16) error {
					n += len(pcm)
					return nil
				})
				g.Expect(n).To(gomega.Equal(want.samples))
				g.Expect(time.Since(start)).To(gomega.BeNumerically("~", want.took, time.Microsecond))
				if want.err == nil {
					g.Expect(err).NotTo(gomega.HaveOccurred())
				} else {
					g.Expect(err).To(gomega.MatchError(want.err))
				}
			})
		})
	}
}

func TestSynthesizerRefuses(t *testing.T) {
	g := gomega.NewWithT(t)
	drop := func([]int16) error { return nil }
	long := pipeline.Utterance{Text: strings.Repeat("x", maxUtterance+1)}
	g.Expect(New(Options{}).Synthesizer.Synthesize(t.Context(), long, drop)).To(gomega.MatchError(pipeline.ErrTooLong))
	missing := rules(t, "synthesizer: {missing: apt install larynx}")
	err := missing.Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: "x"}, drop)
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	g.Expect(err.Error()).To(gomega.ContainSubstring("apt install larynx"))
}

func TestTheRecogniserUnderstandsTheUsersVoice(t *testing.T) {
	g := gomega.NewWithT(t)
	p := New(Options{})
	var pcm []int16
	g.Expect(p.Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: "Good day.", Voice: userVoice}, func(part []int16) error {
		pcm = append(pcm, part...)
		return nil
	})).To(gomega.Succeed())
	g.Expect(pcm).To(gomega.Equal(Tones("Good day.")))
}
