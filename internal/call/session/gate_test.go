package session

// The gate: at the end of an utterance the whole of it is recognised again.

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// again is the recogniser of a gate: each whole utterance has the next of its results, and the last one all that follow.
type again struct {
	results []pipeline.TranscriptResult
	takes   time.Duration // how long one utterance takes
	asked   atomic.Int64
	longest atomic.Int64 // samples of the longest utterance
	open    atomic.Int64 // utterances that are being recognised
}

// ReportsEnds implements pipeline.EndReporter.
func (a *again) ReportsEnds() bool { return true }

// Open implements pipeline.Transcriber.
func (a *again) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if c.Live {
		return nil, pipeline.ErrNoLive
	}
	asked := int(a.asked.Add(1))
	a.open.Add(1)
	return &againStream{
		again: a, ctx: ctx, result: a.results[min(asked, len(a.results))-1], results: make(chan pipeline.TranscriptResult, 1),
	}, nil
}

// againStream is one utterance of again.
type againStream struct {
	*again
	ctx     context.Context //nolint:containedctx // a Transcription ends with the context of Open
	result  pipeline.TranscriptResult
	results chan pipeline.TranscriptResult
	samples int
	closed  bool
}

// Write implements pipeline.Transcription.
func (s *againStream) Write(pcm []float32) error { s.samples += len(pcm); return nil }

// CloseInput implements pipeline.Transcription.
func (s *againStream) CloseInput() error {
	s.longest.Store(max(s.longest.Load(), int64(s.samples)))
	timer := time.AfterFunc(s.takes, func() { s.results <- s.result })
	context.AfterFunc(s.ctx, func() { timer.Stop() })
	return nil
}

// Results implements pipeline.Transcription.
func (s *againStream) Results() <-chan pipeline.TranscriptResult { return s.results }

// Close implements pipeline.Transcription.
func (s *againStream) Close() error {
	if !s.closed {
		s.closed = true
		s.open.Add(-1)
	}
	return nil
}

// gated places a call whose live recogniser hears "turn it off" and its end after 300 ms of sound, and whose gate is a.
func gated(t *testing.T, a *again, cfg Config) *caller {
	t.Helper()
	return gatedOver(t, plain(), a, cfg)
}

// gatedOver is gated with a pipeline, whose recogniser it replaces.
func gatedOver(t *testing.T, p *pipeline.Pipeline, a *again, cfg Config) *caller {
	t.Helper()
	p.Transcriber = hearing{
		live:  []heard{{300 * time.Millisecond, pipeline.TranscriptResult{Partial: "turn it off", EOU: true}}},
		final: pipeline.TranscriptResult{Final: true, Text: "turn it off"},
	}
	p.Retranscriber = a
	cfg.Pipeline, cfg.Settings = p, wire.DefaultSession()
	c := newCallerWith(t, cfg)
	c.pacer = newPacer(c.s, nil)
	c.start()
	t.Cleanup(func() { c.g.Expect(a.open.Load()).To(gomega.BeZero(), "an utterance is left") })
	c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":{"type":"semantic_vad"}}}`)
	return c
}

// whole is the result of a gate.
func whole(text string, ends bool) pipeline.TranscriptResult {
	return pipeline.TranscriptResult{Final: true, Text: text, EOU: ends}
}

// saidAndAnswered waits for the transcript of the only turn and for the answer to it.
func (c *caller) saidAndAnswered(said string) {
	c.t.Helper()
	c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
		To(gomega.Equal(said))
	done := next[*wire.ResponseDone](c, "response.done").Response
	c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.Equal("You said: " + said))
	c.g.Expect(c.count("input_audio_buffer.committed")).To(gomega.Equal(1))
}

// TestTheGate: the gate confirms or refuses the end of a turn.
func TestTheGate(t *testing.T) {
	const committed = "input_audio_buffer.committed"
	story(t, "it confirms the end: its text is the transcript", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}, takes: 300 * time.Millisecond}
		c := gated(t, a, Config{})
		c.oneTurn(400)
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement(committed), "it has not answered yet")
		c.quiet(2000)
		c.saidAndAnswered("turn it on")
		c.g.Expect(a.asked.Load()).To(gomega.BeEquivalentTo(1), "the text is not recognised a second time after the commit")
		c.g.Expect(a.longest.Load()).To(gomega.BeNumerically("~", pipeline.InputRate*9/10, pipeline.InputRate*3/10), "the turn so far")
	})
	story(t, "it refuses the end: the turn goes on, and the next end is judged anew", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it", false), whole("turn it off now", true)}}
		c := gated(t, a, Config{})
		c.oneTurn(1500)
		c.g.Expect(a.asked.Load()).To(gomega.BeEquivalentTo(1), "once a pause")
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("input_audio_buffer.speech_stopped"))
		c.speak(scripted.Tones("more")[:24*200])
		c.quiet(4500)
		c.saidAndAnswered("turn it off")
	})
	story(t, "it refuses the end, and nothing follows: the turn ends after the time of the eagerness", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it", false)}}
		c := gated(t, a, Config{})
		c.oneTurn(3500)
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement(committed))
		c.quiet(1500)
		c.saidAndAnswered("turn it off")
	})
	story(t, "it finds no words: the turn is dropped", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole(" … ", true)}}
		c := gated(t, a, Config{AnswerAhead: true})
		c.oneTurn(5000)
		c.g.Expect(c.since("input_audio_buffer.speech_stopped")).To(gomega.Equal([]string{"input_audio_buffer.cleared"}))
		c.g.Expect(c.Names()).NotTo(gomega.ContainElements("conversation.item.added", "response.created"))
	})
	story(t, "speech goes on before it answers: the end is retracted", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}, takes: time.Second}
		c := gated(t, a, Config{})
		c.oneTurn(500)
		c.g.Expect(a.open.Load()).To(gomega.BeEquivalentTo(1))
		c.speak(scripted.Tones("more")[:24*200])
		c.g.Expect(a.open.Load()).To(gomega.BeZero(), "its question is given up")
		c.quiet(2000)
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement(committed))
		c.quiet(2500)
		c.saidAndAnswered("turn it off")
	})
}

// TestTheGateThatHasNoAnswer: the turn does not wait for a gate that is slow or fails, or that the client overtakes.
func TestTheGateThatHasNoAnswer(t *testing.T) {
	story(t, "it is too slow: the end counts without it", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}, takes: time.Hour}
		c := gated(t, a, Config{})
		began := time.Now()
		c.oneTurn(3500)
		c.saidAndAnswered("turn it off")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", listening.GateTimeout+2500*time.Millisecond))
	})
	story(t, "it fails: the end counts without it", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{{Err: errors.New("no model")}}}
		c := gated(t, a, Config{Logger: slog.New(slog.DiscardHandler)})
		c.oneTurn(1500)
		c.saidAndAnswered("turn it off")
	})
	story(t, "the client commits before it answers", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}, takes: time.Second}
		c := gated(t, a, Config{})
		c.oneTurn(500)
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.quiet(2000)
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.Equal("turn it off"))
		c.g.Expect(c.count("input_audio_buffer.committed")).To(gomega.Equal(1))
	})
	story(t, "the call ends before it answers", func(t *testing.T) {
		a := &again{results: []pipeline.TranscriptResult{whole("turn it on", true)}, takes: time.Second}
		c := gated(t, a, Config{})
		c.oneTurn(500)
		c.s.Close(0)
		<-c.s.Done()
	})
}

// The recogniser of this gate reports no ends: the estimator of the pipeline judges the whole text.
func TestAGateWithoutEndsAsksTheEstimator(t *testing.T) {
	for text, ends := range map[string]bool{"my number is": false, "thank you very much": true} {
		story(t, text, func(t *testing.T) {
			p := plain()
			p.Transcriber = hearing{
				live:  []heard{{300 * time.Millisecond, pipeline.TranscriptResult{Partial: "thank you", EOU: true}}},
				final: pipeline.TranscriptResult{Final: true, Text: "thank you"},
			}
			p.Retranscriber = afterSound{words: "", after: time.Hour, final: text}
			c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession()})
			c.pacer = newPacer(c.s, nil)
			c.start()
			c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}`)
			c.oneTurn(1000)
			c.g.Expect(c.count("input_audio_buffer.committed") == 1).To(gomega.Equal(ends))
		})
	}
}
