package wyoming

// The synthesizer against services that speak, and against services that fail.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// speech is an utterance of 0.5 s in a format.
func speech(p *peer, f format) {
	p.send("audio-start", f, nil)
	pcm := make([]byte, f.Rate/2*f.Width*f.Channels)
	for len(pcm) > 0 {
		n := min(1023, len(pcm)) // ends within a sample
		p.send("audio-chunk", f, pcm[:n])
		pcm = pcm[n:]
	}
	p.send("audio-stop", nil, nil)
}

// synthesizer returns a Synthesizer of a stand-in.
func synthesizer(t *testing.T, s Service, o SynthesizerOptions) *Synthesizer {
	t.Helper()
	o.Service = s
	y, err := NewSynthesizer(o)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// say speaks a text and returns how many samples came.
func say(t *testing.T, s *Synthesizer, u pipeline.Utterance) (samples int, err error) {
	t.Helper()
	err = s.Synthesize(t.Context(), u, func(pcm []int16) error {
		if len(pcm) == 0 || len(pcm) > pipeline.MaxChunk {
			t.Errorf("a chunk of %d samples", len(pcm))
		}
		samples += len(pcm)
		return nil
	})
	return samples, err
}

func TestATextIsSpoken(t *testing.T) {
	for name, f := range map[string]format{"24 kHz": {24000, 2, 1}, "22.05 kHz": {22050, 2, 1}, "16 kHz": {16000, 2, 1}, "stereo": {48000, 2, 2}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := serve(t, piper(false), func(p *peer, e event) {
				g.Expect(e.kind).To(gomega.Equal("synthesize"))
				g.Expect(p.field("synthesize", "text")).To(gomega.Equal("Good day."))
				g.Expect(p.field("synthesize", "voice")).To(gomega.Equal(map[string]any{"name": "en_US-joe-medium", "speaker": "3"}))
				speech(p, f)
			})
			y := synthesizer(t, s, SynthesizerOptions{Voice: "en_US-joe-medium", Speaker: "3"})
			n, err := say(t, y, pipeline.Utterance{Text: "Good day.", Voice: "marin"})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(n).To(gomega.BeNumerically("~", pipeline.OutputRate/2, 2))
			g.Expect(y.Component()).To(gomega.Equal(pipeline.Component{Stage: "synthesizer", Name: "wyoming", State: "ready", Detail: "piper en_US-joe-medium at " + s.URL}))
		})
	}
}

// TestAServiceThatStreamsSpeech gets the text as a stream, and sends a stretch of audio for each sentence.
func TestAServiceThatStreamsSpeech(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, piper(true), func(p *peer, e event) {
		g.Expect(e.kind).To(gomega.Equal("synthesize-start"))
		g.Expect(p.until("synthesize-stop")).To(gomega.BeTrue())
		g.Expect(p.field("synthesize-chunk", "text")).To(gomega.Equal("One. Two."))
		speech(p, format{22050, 2, 1})
		speech(p, format{16000, 2, 1})
		p.send("synthesize-stopped", nil, nil)
	})
	n, err := say(t, synthesizer(t, s, SynthesizerOptions{}), pipeline.Utterance{Text: "One. Two."})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(n).To(gomega.BeNumerically("~", pipeline.OutputRate, 4))
}

func TestVoices(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked any
	s := serve(t, piper(false), func(p *peer, _ event) {
		asked = p.field("synthesize", "voice")
		speech(p, format{24000, 2, 1})
	})
	y := synthesizer(t, s, SynthesizerOptions{Voice: "en_US-joe-medium"})
	g.Expect(y.CheckVoice("whatever")).To(gomega.Succeed(), "the voices are not known yet")
	g.Expect(y.Warm(t.Context())).To(gomega.Succeed())
	for _, name := range []string{"", "alloy", "en_US-amy-low"} {
		g.Expect(y.CheckVoice(name)).To(gomega.Succeed())
	}
	err := y.CheckVoice("whatever")
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	g.Expect(err).To(gomega.MatchError(gomega.HaveSuffix(`unknown voice "whatever" at ` + s.URL + " (want one of en_US-joe-medium, en_US-amy-low)")))
	_, err = say(t, y, pipeline.Utterance{Text: "Hi.", Voice: "whatever"})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	for name, want := range map[string]any{"": "en_US-joe-medium", "alloy": "en_US-joe-medium", "en_US-amy-low": "en_US-amy-low"} {
		_, err := say(t, y, pipeline.Utterance{Text: "Hi.", Voice: name})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(asked).To(gomega.Equal(map[string]any{"name": want}))
	}
	_, err = say(t, synthesizer(t, s, SynthesizerOptions{}), pipeline.Utterance{Text: "Hi."})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(asked).To(gomega.BeNil(), "the service's default")
	wrong := synthesizer(t, s, SynthesizerOptions{Voice: "no-such"})
	g.Expect(wrong.Warm(t.Context())).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	asked = nil
	_, err = say(t, wrong, pipeline.Utterance{Text: "Hi.", Voice: "alloy"})
	g.Expect(err).To(gomega.MatchError(gomega.HaveSuffix(`unknown voice "no-such" at ` + s.URL + " (want one of en_US-joe-medium, en_US-amy-low)")))
	g.Expect(asked).To(gomega.BeNil(), "the service is not asked for it")
}

func TestTextsThatAreNotSpoken(t *testing.T) {
	g := gomega.NewWithT(t)
	y := synthesizer(t, Service{URL: "tcp://127.0.0.1:1"}, SynthesizerOptions{})
	for _, text := range []string{"", " … ", "—!?", "👍"} {
		n, err := say(t, y, pipeline.Utterance{Text: text})
		g.Expect(err).NotTo(gomega.HaveOccurred(), text)
		g.Expect(n).To(gomega.BeZero())
	}
	_, err := say(t, y, pipeline.Utterance{Text: strings.Repeat("a", maxRunes+1)})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrTooLong))
}

func TestBadSynthesizers(t *testing.T) {
	good := format{24000, 2, 1}
	for name, test := range map[string]struct {
		handle func(p *peer)
		want   string
	}{
		"hangs up":     {func(*peer) {}, "closed the connection before the end of its answer to synthesize"},
		"says nothing": {func(p *peer) { p.until("nothing") }, "sent nothing for 300ms after synthesize"},
		"stalls":       {func(p *peer) { p.send("audio-start", good, nil); p.until("nothing") }, "sent nothing for 200ms after synthesize"},
		"no audio":     {func(p *peer) { p.send("audio-start", good, nil); p.send("audio-stop", nil, nil); p.until("x") }, "sent a wrong answer: no audio for the text"},
		"an odd byte": {func(p *peer) {
			p.send("audio-chunk", good, []byte{1, 2, 3})
			p.send("audio-stop", nil, nil)
			p.until("x")
		}, "the audio ends with half a sample"},
		"floats":              {func(p *peer) { p.send("audio-start", format{24000, 4, 1}, nil); p.until("x") }, "audio of 4 bytes a sample and 1 channels"},
		"surround":            {func(p *peer) { p.send("audio-start", format{24000, 2, 6}, nil); p.until("x") }, "audio of 2 bytes a sample and 6 channels"},
		"a rate that is none": {func(p *peer) { p.send("audio-start", format{7, 2, 1}, nil); p.until("x") }, "cannot resample from 7 Hz"},
		"an error":            {func(p *peer) { p.send("error", map[string]string{"text": "no voice"}, nil); p.until("x") }, "answered with an error: no voice"},
		"rubbish":             {func(p *peer) { _, _ = p.Write([]byte("\x00\x01\n")); p.until("x") }, "does not speak the Wyoming protocol"},
		"never ends": {func(p *peer) {
			for range 5*60*2*24000/maxPayload + 2 {
				p.send("audio-chunk", good, make([]byte, maxPayload))
			}
		}, "more than 5 minutes of audio for one clause"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := serve(t, piper(false), func(p *peer, _ event) { test.handle(p) })
			if strings.HasPrefix(test.want, "sent nothing") {
				s.FirstByte, s.Idle = 300*time.Millisecond, 200*time.Millisecond
			}
			y := synthesizer(t, s, SynthesizerOptions{})
			_, err := say(t, y, pipeline.Utterance{Text: "Good day."})
			var stage *pipeline.StageError
			g.Expect(errors.As(err, &stage)).To(gomega.BeTrue(), "%v", err)
			g.Expect(err.Error()).To(gomega.HavePrefix("synthesizer: " + s.URL + " "))
			g.Expect(err.Error()).To(gomega.ContainSubstring(test.want))
			g.Expect(y.Component().State).To(gomega.Equal(pipeline.StateFailed))
		})
	}
}

// TestTheContextEndsASynthesis: the connection is closed at once, and what emit says comes back.
func TestTheContextEndsASynthesis(t *testing.T) {
	g := gomega.NewWithT(t)
	ended := make(chan struct{}, 2)
	s := serve(t, piper(false), func(p *peer, _ event) {
		p.send("audio-chunk", format{24000, 2, 1}, make([]byte, 4800))
		p.until("nothing")
		ended <- struct{}{}
	})
	y := synthesizer(t, s, SynthesizerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	err := y.Synthesize(ctx, pipeline.Utterance{Text: "Good day."}, func([]int16) error { cancel(); return nil })
	g.Expect(err).To(gomega.MatchError(context.Canceled))
	<-ended
	enough := errors.New("enough")
	g.Expect(y.Synthesize(t.Context(), pipeline.Utterance{Text: "Good day."}, func([]int16) error { return enough })).To(gomega.BeIdenticalTo(enough))
	<-ended
}
