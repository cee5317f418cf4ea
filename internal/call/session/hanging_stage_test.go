package session

// Stages of the pipeline that hang: each call into them has a limit, and the session answers the next turn.

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// hanging is a plain pipeline in which the first call of one kind hangs until the test ends, whatever its context says.
type hanging struct {
	*pipeline.Pipeline
	call     string // the call of the stage that hangs
	hung     atomic.Bool
	released chan struct{}
}

// hangs returns a call with a pipeline whose first call of that kind hangs.
func hangs(t *testing.T, media bool, call string) (*caller, *hanging) {
	t.Helper()
	return hangsLogging(t, media, call, nil)
}

// hangsLogging is hangs for a session with that logger.
func hangsLogging(t *testing.T, media bool, call string, log *slog.Logger) (*caller, *hanging) {
	t.Helper()
	p := *plain()
	h := &hanging{Pipeline: plain(), call: call, released: make(chan struct{})}
	p.Transcriber, p.Model, p.Synthesizer = hangingTranscriber{h}, hangingModel{h}, hangingSynthesizer{h}
	warm := p.Warm
	p.Warm = func(ctx context.Context) error {
		h.at("warm-up")
		return warm(ctx)
	}
	c := newCallerWith(t, Config{Pipeline: &p, Settings: wire.DefaultSession(), Logger: log})
	if media {
		c.pacer = newPacer(c.s, nil)
	}
	t.Cleanup(func() { close(h.released) })
	return c.start(), h
}

// at hangs at the first call of that kind.
func (h *hanging) at(call string) {
	if call == h.call && h.hung.CompareAndSwap(false, true) {
		<-h.released
	}
}

type hangingTranscriber struct{ *hanging }

// Open implements pipeline.Transcriber.
func (h hangingTranscriber) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	h.at("open")
	s, err := h.Transcriber.Open(ctx, c)
	return hangingTranscription{s, h.hanging}, err
}

type hangingTranscription struct {
	pipeline.Transcription
	h *hanging
}

// Write implements pipeline.Transcription.
func (s hangingTranscription) Write(pcm []float32) error {
	s.h.at("write")
	return s.Transcription.Write(pcm)
}

// CloseInput implements pipeline.Transcription.
func (s hangingTranscription) CloseInput() error {
	s.h.at("close input")
	return s.Transcription.CloseInput()
}

// Close implements pipeline.Transcription.
func (s hangingTranscription) Close() error {
	s.h.at("close")
	return s.Transcription.Close()
}

type hangingModel struct{ *hanging }

// Generate implements pipeline.Model.
func (h hangingModel) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	h.at("generate")
	usage, err := h.Model.Generate(ctx, r, func(e pipeline.ModelEvent) error {
		err := emit(e)
		h.at("between tokens")
		return err
	})
	h.at("the end of generate")
	return usage, err
}

type hangingSynthesizer struct{ *hanging }

// Synthesize implements pipeline.Synthesizer.
func (h hangingSynthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func([]int16) error) error {
	h.at("synthesize")
	return h.Synthesizer.Synthesize(ctx, u, func(pcm []int16) error {
		err := emit(pcm)
		h.at("between audio")
		return err
	})
}

// overBothHanging tells a story of a session whose first call of a kind hangs, over each transport.
func overBothHanging(t *testing.T, call string, tell func(t *testing.T, c *caller)) {
	t.Helper()
	for name, media := range map[string]bool{"WebRTC": true, "WebSocket": false} {
		story(t, call+" over "+name, func(t *testing.T) {
			c, h := hangs(t, media, call)
			tell(t, c)
			c.g.Expect(h.hung.Load()).To(gomega.BeTrue(), "the call was made")
		})
	}
}

// TestTranscriberThatHangs: the words of the turn come from a second try, and the session answers the next turn.
func TestTranscriberThatHangs(t *testing.T) {
	for _, call := range []string{"open", "write", "close input", "close"} {
		overBothHanging(t, call, func(_ *testing.T, c *caller) {
			for _, said := range []string{"hello there", "how are you"} {
				c.settle(`"audio":{"input":{"transcription":{"model":"whisper-1"}}}`)
				c.quiet(300)
				c.speak(scripted.Tones(said))
				c.quiet(700)
				first(c, "input_audio_buffer.committed")
				done := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
				c.g.Expect(done.Transcript).To(gomega.ContainSubstring(said))
				c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
				c.quiet(5000)
			}
		})
	}
}

// TestModelThatHangs: the response fails within its limit, and the session answers the next request.
func TestModelThatHangs(t *testing.T) {
	for call, code := range map[string]string{
		"generate": "model_failed", "between tokens": "model_failed", "the end of generate": "model_failed",
		"synthesize": "synthesizer_failed", "between audio": "synthesizer_failed",
	} {
		overBothHanging(t, call, func(_ *testing.T, c *caller) {
			c.ask("say 12 words")
			failed := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(failed.Status).To(gomega.Equal("failed"))
			c.g.Expect(failed.StatusDetails.Error.Code).To(gomega.Equal(code))
			c.ask("say 12 words")
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		})
	}
}

// TestModelThatIgnoresItsCancellation: response.cancel ends the response at once for the client, and the next one begins
// when the limit of a cancelled call is over.
func TestModelThatIgnoresItsCancellation(t *testing.T) {
	for _, call := range []string{"generate", "between tokens", "synthesize"} {
		overBothHanging(t, call, func(_ *testing.T, c *caller) {
			c.ask("say 12 words")
			first(c, "response.created")
			wait(time.Second)
			c.send(`{"type":"response.cancel"}`)
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
			began := time.Now()
			c.ask("say 12 words")
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
			c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 20*time.Second))
		})
	}
}

// TestSessionEndsBesideAStageThatHangs: the end of the session waits for a stage no longer than the limit of a cancelled call.
func TestSessionEndsBesideAStageThatHangs(t *testing.T) {
	for _, call := range []string{"open", "generate", "synthesize"} {
		overBothHanging(t, call, func(_ *testing.T, c *caller) {
			c.ask("say 12 words")
			c.speak(scripted.Tones("hello there"))
			began := time.Now()
			c.s.Close(0)
			<-c.s.Done()
			c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<=", 4*time.Second))
		})
	}
}

// TestWarmUpThatHangs: the session opens and says that a back end did not come up.
func TestWarmUpThatHangs(t *testing.T) {
	overBothHanging(t, "warm-up", func(_ *testing.T, c *caller) {
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(e.Code).To(gomega.Equal("backend_unavailable"))
		c.ask("say 12 words")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
	})
}
