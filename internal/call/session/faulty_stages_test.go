package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Stages that break their contract, such as a faulty back end: the session reports a failure and goes on.

// model calls the function now for the text "now", and is the scripted model for any other text.
type model struct {
	pipeline.Model
	now func(ctx context.Context, emit func(pipeline.ModelEvent) error) error
}

// Generate implements pipeline.Model.
func (m model) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Text == "now" {
		return pipeline.Usage{}, m.now(ctx, emit)
	}
	return m.Model.Generate(ctx, r, emit)
}

func withModel(now func(ctx context.Context, emit func(pipeline.ModelEvent) error) error) *pipeline.Pipeline {
	p := plain()
	p.Model = model{p.Model, now}
	return p
}

// faultySynthesizer calls the function now for a text with "now", and is the scripted synthesizer for any other text.
type faultySynthesizer struct {
	pipeline.Synthesizer
	now func(emit func([]int16) error) error
}

// Synthesize implements pipeline.Synthesizer.
func (v faultySynthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func([]int16) error) error {
	if strings.Contains(u.Text, "now") {
		return v.now(emit)
	}
	return v.Synthesizer.Synthesize(ctx, u, emit)
}

func withSynthesizer(now func(emit func([]int16) error) error) *pipeline.Pipeline {
	p := plain()
	p.Synthesizer = faultySynthesizer{p.Synthesizer, now}
	return p
}

// expectSessionWorks checks that the session still works.
func expectSessionWorks(c *caller) {
	c.t.Helper()
	c.ask("are you there")
	c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
}

func TestFaultyModels(t *testing.T) {
	says := func(events ...pipeline.ModelEvent) *pipeline.Pipeline {
		return withModel(func(_ context.Context, emit func(pipeline.ModelEvent) error) error {
			for _, e := range events {
				if err := emit(e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	many := make([]pipeline.ModelEvent, 0, 100)
	for i := range 100 {
		many = append(many, pipeline.ToolCallDone{Index: i, Name: "f", Arguments: "{}"})
	}
	for _, row := range []struct {
		name   string
		p      *pipeline.Pipeline
		status string
		items  int
	}{
		{"it panics", withModel(func(context.Context, func(pipeline.ModelEvent) error) error { panic("out of cheese") }), "failed", 0},
		{"it panics in mid-sentence", withModel(func(_ context.Context, emit func(pipeline.ModelEvent) error) error {
			_ = emit(pipeline.TextDelta{Text: "so far "})
			panic("out of cheese")
		}), "failed", 1},
		{"it sends nothing", says(), "completed", 0},
		{"it sends empty texts", says(pipeline.TextDelta{}, pipeline.TextDelta{}), "completed", 0},
		{"it sends invalid UTF-8", says(pipeline.TextDelta{Text: "\xff\x00\x01\u2028"}, pipeline.TextDelta{Text: "\xfe"}), "completed", 1},
		{"it sends blanks", says(pipeline.TextDelta{Text: "   \n\n  "}), "completed", 1},
		{"it sends one word of 1000 letters", says(pipeline.TextDelta{Text: strings.Repeat("x", 1000)}), "completed", 1},
		{"it ends a tool call that it did not begin, twice", says(
			pipeline.ToolCallDone{Index: 7, Name: "f", Arguments: "{}"}, pipeline.ToolCallDone{Index: 7, Name: "f", Arguments: "[]"}), "completed", 1},
		{"it begins a tool call and does not end it", says(pipeline.ToolCallDelta{Index: 0, Name: "f", Arguments: `{"a":`}), "completed", 1},
		{"it ends a tool call with other arguments", says(
			pipeline.ToolCallDelta{Index: 0, Name: "f", Arguments: `{"a"`}, pipeline.ToolCallDone{Index: 0, Name: "f", Arguments: `{"b":1}`}), "completed", 1},
		{"it makes too many tool calls", says(many...), "completed", 64},
	} {
		story(t, row.name, func(t *testing.T) {
			c := byWebRTC(t, row.p)
			c.ask("now")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Status).To(gomega.Equal(row.status))
			c.g.Expect(done.Output).To(gomega.HaveLen(row.items))
			c.g.Expect(c.count("response.output_item.done")).To(gomega.Equal(row.items), "every item that was added is done")
			if row.status == "failed" {
				c.g.Expect(done.StatusDetails.Error.Code).To(gomega.Equal("model_failed"))
			}
			expectSessionWorks(c)
		})
	}
}

// TestAModelThatDoesNotStop: the server waits for a model that does not stop when it is cancelled, and drops its output.
func TestAModelThatDoesNotStop(t *testing.T) {
	story(t, "its later text is dropped, and the next response waits for its end", func(t *testing.T) {
		c := byWebRTC(t, withModel(func(ctx context.Context, emit func(pipeline.ModelEvent) error) error {
			_ = emit(pipeline.TextDelta{Text: "well "})
			<-ctx.Done()
			wait(3 * time.Second)
			_ = emit(pipeline.TextDelta{Text: "never to be heard"})
			return nil
		}))
		c.ask("now")
		first(c, "response.output_audio_transcript.delta")
		c.send(`{"type":"response.cancel"}`)
		first(c, "response.done")
		began := time.Now()
		expectSessionWorks(c)
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically(">=", 3*time.Second))
		for _, e := range c.All() {
			if d, ok := e.(*wire.ResponseOutputAudioTranscriptDelta); ok {
				c.g.Expect(d.Delta).NotTo(gomega.ContainSubstring("never"))
			}
		}
	})
}

func TestFaultySynthesizers(t *testing.T) {
	for _, row := range []struct {
		name   string
		p      *pipeline.Pipeline
		status string
	}{
		{"it panics", withSynthesizer(func(func([]int16) error) error { panic("hoarse") }), "failed"},
		{"it is silent", withSynthesizer(func(func([]int16) error) error { return nil }), "completed"},
		{"it gives empty audio", withSynthesizer(func(emit func([]int16) error) error { return emit(nil) }), "completed"},
		{"it gives a minute at once", withSynthesizer(func(emit func([]int16) error) error { return emit(make([]int16, 60*room.OutputRate)) }), "completed"},
		{"it gives one sample at a time", withSynthesizer(func(emit func([]int16) error) error {
			for i := range 500 {
				if err := emit([]int16{int16(i)}); err != nil {
					return err
				}
			}
			return nil
		}), "completed"},
	} {
		story(t, row.name, func(t *testing.T) {
			c := byWebRTC(t, row.p)
			c.ask("now")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Status).To(gomega.Equal(row.status))
			if row.status == "failed" {
				c.g.Expect(done.StatusDetails.Error.Code).To(gomega.Equal("synthesizer_failed"))
			}
			expectSessionWorks(c)
		})
	}
}

// TestASynthesizerThatFailsInAnAnswer: the model is not told what nobody has heard.
func TestASynthesizerThatFailsInAnAnswer(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, *pipeline.Pipeline) *caller{"WebRTC": byWebRTC, "WebSocket": byWebSocket} {
		story(t, name, func(t *testing.T) {
			p, l := remembered(withSynthesizer(func(func([]int16) error) error { return errors.New("hoarse") }))
			c := begin(t, p)
			c.ask("We sing a song today. But now the voice breaks. And more is to come.")
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("failed"))
			first(c, "conversation.item.truncated")
			c.ask("go on")
			first(c, "response.done")
			c.g.Expect(l.request().Messages[1].Text).To(gomega.HaveSuffix("We sing a song today."))
		})
	}
}

// fakeRecogniser is a recogniser made from a function, which runs for every turn.
type fakeRecogniser func(ctx context.Context, audio <-chan struct{}, say func(pipeline.TranscriptResult))

// Open implements pipeline.Transcriber.
func (h fakeRecogniser) Open(ctx context.Context, _ pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	m := &fakeRecognition{results: make(chan pipeline.TranscriptResult, 100), ended: make(chan struct{}), left: make(chan struct{})}
	go func() {
		defer close(m.left)
		defer close(m.results)
		h(ctx, m.ended, func(r pipeline.TranscriptResult) { m.results <- r })
	}()
	return m, nil
}

type fakeRecognition struct {
	results     chan pipeline.TranscriptResult
	ended, left chan struct{}
}

// Write implements pipeline.Transcription.
func (m *fakeRecognition) Write([]float32) error { return nil }

// CloseInput implements pipeline.Transcription.
func (m *fakeRecognition) CloseInput() error {
	close(m.ended)
	return nil
}

// Results implements pipeline.Transcription.
func (m *fakeRecognition) Results() <-chan pipeline.TranscriptResult { return m.results }

// Close implements pipeline.Transcription.
func (m *fakeRecognition) Close() error {
	<-m.left
	return nil
}

func TestFaultyRecognisers(t *testing.T) {
	for _, row := range []struct {
		name           string
		fakeRecogniser fakeRecogniser
		want           string // the transcript; "" is a failure
	}{
		{"it hangs up without a word", func(context.Context, <-chan struct{}, func(pipeline.TranscriptResult)) {}, ""},
		{"it hangs", func(ctx context.Context, _ <-chan struct{}, _ func(pipeline.TranscriptResult)) { <-ctx.Done() }, ""},
		{"it has its last word before the end, and then the audio in one piece", func(_ context.Context, _ <-chan struct{}, say func(pipeline.TranscriptResult)) {
			say(pipeline.TranscriptResult{Final: true, Text: "hello"})
		}, "hello"},
		{"its result is not valid text", func(ctx context.Context, audio <-chan struct{}, say func(pipeline.TranscriptResult)) {
			say(pipeline.TranscriptResult{Partial: "\xff\x00 hel"})
			select {
			case <-audio:
				say(pipeline.TranscriptResult{Final: true, Text: "\xff\x00hello"})
			case <-ctx.Done():
			}
		}, "\uFFFD\x00hello"},
		{"it changes its mind all the time", func(ctx context.Context, audio <-chan struct{}, say func(pipeline.TranscriptResult)) {
			for i := range 50 {
				say(pipeline.TranscriptResult{Partial: fmt.Sprint(i*7919%13, " bottles of ", i), EOU: i%2 == 0, Backchannel: i%3 == 0})
			}
			select {
			case <-audio:
				say(pipeline.TranscriptResult{Final: true, Text: "fifty bottles"})
			case <-ctx.Done():
			}
		}, "fifty bottles"},
	} {
		story(t, row.name, func(t *testing.T) {
			p := plain()
			p.Transcriber = row.fakeRecogniser
			c := byWebSocket(t, p)
			c.settle(`"audio":{"input":{"transcription":{"model":"any"}}}`)
			c.quiet(300)
			c.speak(scripted.Tones("hello"))
			c.quiet(700)
			if row.want == "" {
				first(c, "conversation.item.input_audio_transcription.failed")
			} else {
				completed := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
				c.g.Expect(completed.Transcript).To(gomega.Equal(row.want))
				first(c, "response.done")
			}
			expectSessionWorks(c)
		})
	}

	story(t, "it panics", func(t *testing.T) {
		p := plain()
		p.Transcriber = broken{}
		c := byWebSocket(t, p)
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		c.quiet(700)
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Message).To(gomega.And(
			gomega.ContainSubstring("no recogniser"), gomega.Not(gomega.ContainSubstring("goroutine"))))
		expectSessionWorks(c)
	})
}

type broken struct{}

// Open implements pipeline.Transcriber.
func (broken) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	panic("no recogniser")
}

func TestPipelinePanicsAtFirst(t *testing.T) {
	story(t, "the session begins and says so", func(t *testing.T) {
		p := plain()
		p.Warm = func(context.Context) error { panic("cold feet") }
		c := byWebSocket(t, p)
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(e.Code).To(gomega.Equal("backend_unavailable"))
		c.g.Expect(e.Message).To(gomega.ContainSubstring("cold feet"))
		expectSessionWorks(c)
	})
}
