package scripted

// The scripted recogniser with tones, other sounds and rules.

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// hum returns a sound without a text: seconds of a swept tone between silences of 0.5 s, at 24 kHz.
func hum(seconds, hz, sweep float64) []int16 {
	pcm := make([]int16, int((seconds+1)*pipeline.OutputRate))
	for i := range int(seconds * pipeline.OutputRate) {
		at := float64(i) / pipeline.OutputRate
		pcm[i+pipeline.OutputRate/2] = int16(8000 * math.Sin(2*math.Pi*(hz+sweep*math.Sin(9*at))*at))
	}
	return pcm
}

func sent(t *testing.T, pcm []int16, way pipetest.Path) []float32 {
	t.Helper()
	x, err := way.Send(pcm, pipeline.OutputRate)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return x
}

func TestOtherSpeechIsItsLength(t *testing.T) {
	for text, pcm := range map[string][]int16{
		"speech of 1.2 s": hum(1.2, 300, 40), "speech of 0.3 s": hum(0.3, 200, 0), "": make([]int16, 24000),
	} {
		t.Run(text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			for _, way := range []pipetest.Path{{}, {Bitrate: 32000, Noise: 0.0005}} {
				g.Expect(hear(t, nil, sent(t, pcm, way)).Text).To(gomega.Equal(text))
			}
		})
	}
}

// TestShortSpeechHasNoWords: what may be a cough has no partial result, so it does not count as words.
func TestShortSpeechHasNoWords(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(hear(t, nil, sent(t, hum(0.4, 200, 0), pipetest.Path{})).Partials).To(gomega.BeEmpty())
	long := hear(t, nil, sent(t, hum(1.5, 200, 30), pipetest.Path{}))
	g.Expect(long.Text).To(gomega.Equal("speech of 1.5 s"))
	g.Expect(long.EOU).To(gomega.Equal(1), "with the final result only")
}

// TestCorruptTones: a message that cannot be read is speech of a length, not a wrong text.
func TestCorruptTones(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := Tones("transfer ten euros")
	at := len(pcm) * 2 / 3
	copy(pcm[at:], Tones("x")[:1440])
	g.Expect(hear(t, nil, sent(t, pcm, pipetest.Path{})).Text).To(gomega.HavePrefix("speech of "))
}

func TestHearRules(t *testing.T) {
	g := gomega.NewWithT(t)
	s, err := Parse("", []byte(`
transcriber:
  rules:
    - {when: {exact: translate}, text: übersetzen}
    - {when: {exact: and then}, boundary: none}
    - {when: {exact: go on}, boundary: eob}
    - {when: {exact: broken}, fail: the line is dead}
    - {when: {exact: stuck}, stall: true}
`))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	say := func(text string) pipetest.Seen { return hear(t, s, sent(t, Tones(text), pipetest.Path{})) }
	g.Expect(say("translate").Text).To(gomega.Equal("übersetzen"))
	g.Expect(say("and then").EOU).To(gomega.BeZero())
	g.Expect(say("go on").Backchannel).NotTo(gomega.BeZero())
	g.Expect(say("uh-huh").Backchannel).NotTo(gomega.BeZero(), "a backchannel by itself")
	g.Expect(say("well,").EOU).To(gomega.BeZero(), "it goes on")
	g.Expect(say("broken").Err).To(gomega.MatchError(ErrScripted))
	g.Expect(say("ok then").EOU).NotTo(gomega.BeZero())

	ctx, cancel := context.WithCancel(t.Context())
	tr, err := New(Options{Script: s}).Transcriber.Open(ctx, pipeline.TranscribeConfig{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(tr.Write(sent(t, Tones("stuck"), pipetest.Path{}))).To(gomega.Succeed())
	g.Expect(tr.CloseInput()).To(gomega.Succeed())
	g.Consistently(tr.Results(), "50ms").ShouldNot(gomega.Receive())
	cancel()
	g.Expect((<-tr.Results()).Err).To(gomega.MatchError(context.Canceled))
	g.Expect(tr.Close()).To(gomega.Succeed())
}

func TestTranscriberRefuses(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := rules(t, "transcriber: {offline: true}").Transcriber.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
	p := rules(t, "transcriber: {missing: apt install ears}")
	_, err = p.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	g.Expect(p.Components()[0]).To(gomega.Equal(pipeline.Component{
		Stage: "transcriber", Name: "scripted", State: "missing", Detail: "the script says that it is missing", Install: "apt install ears",
	}))
}

// TestUtterancesAreBounded: after ten minutes an utterance takes no more in.
func TestUtterancesAreBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	e := &engine{rules: &TranscriberRules{}, analyser: newAnalyser()}
	s := &stream{rules: e.rules}
	s.demod.analyser = e.analyser
	const before = maxAudio - 30*pipeline.InputRate
	s.fed = before
	second := make([]float32, pipeline.InputRate)
	for range 40 {
		_, err := s.Feed(t.Context(), second)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(s.fed).To(gomega.Equal(maxAudio))
	g.Expect(len(s.level)).To(gomega.Equal(30 * 100))
	g.Expect(len(s.demod.sights)).To(gomega.BeNumerically("<", 1000))
}

func TestWarm(t *testing.T) {
	g := gomega.NewWithT(t)
	p := rules(t, "load: 50ms")
	g.Expect(p.Components()[1].State).To(gomega.Equal(pipeline.StateLoading))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	g.Expect(p.Warm(ctx)).To(gomega.MatchError(context.DeadlineExceeded))
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(p.Components()[1].State).To(gomega.Equal(pipeline.StateReady))
}
