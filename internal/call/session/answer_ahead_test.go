package session

// Answering ahead: the session begins to answer when the end of the turn is likely.

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// slowModel is a model that takes 250 ms for its first word, and counts its calls.
type slowModel struct {
	pipeline.Model
	begun, given *atomic.Int32 // calls, and calls that were cancelled before the first word
}

// Generate implements pipeline.Model.
func (m slowModel) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	m.begun.Add(1)
	first := time.NewTimer(250 * time.Millisecond)
	defer first.Stop()
	select {
	case <-first.C:
	case <-ctx.Done():
		m.given.Add(1)
		return pipeline.Usage{}, ctx.Err()
	}
	return m.Model.Generate(ctx, r, emit)
}

// callAhead places a call of a session that answers ahead. heard is the live transcript of a turn with 300 ms of sound, and final its
// transcript at the end.
func callAhead(t *testing.T, ahead bool, heard, final string) (*caller, slowModel) {
	t.Helper()
	p := afterSound{words: heard, after: 300 * time.Millisecond, final: final}.pipeline()
	m := slowModel{p.Model, &atomic.Int32{}, &atomic.Int32{}}
	p.Model = m
	c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), AnswerAhead: ahead})
	c.pacer = newPacer(c.s, nil)
	c.start()
	c.send(`{"type":"antiphon.hello","metrics":true}`)
	return c, m
}

// oneTurn speaks for 500 ms and is silent for pause.
func (c *caller) oneTurn(pause int) {
	c.quiet(200)
	c.speak(scripted.Tones("some words that take a while")[:24*500])
	c.quiet(pause)
}

func TestAnswersAhead(t *testing.T) {
	story(t, "the answer is there when the turn ends", func(t *testing.T) {
		var sound [2]int
		for i, ahead := range []bool{false, true} {
			c, m := callAhead(t, ahead, "what time is it", "What time is it?")
			c.oneTurn(3000)
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
			c.g.Expect(c.since("input_audio_buffer.committed")).To(gomega.ContainElement("response.created"))
			times := next[*wire.AntiphonTurnMetrics](c, "antiphon.turn.metrics")
			sound[i] = times.FirstPacketMS
			c.g.Expect(m.begun.Load()).To(gomega.Equal(int32(1)), "the model is asked once")
			c.g.Expect(times.AheadMS > 250).To(gomega.Equal(ahead), "%+v", times)
		}
		gomega.NewWithT(t).Expect(sound[0]-sound[1]).To(gomega.BeNumerically(">=", 240), "%v", sound)
	})
	story(t, "speech that goes on throws the draft away", func(t *testing.T) {
		c, m := callAhead(t, true, "my number is", "my number is seven")
		c.oneTurn(300)
		c.g.Expect(m.begun.Load()).To(gomega.Equal(int32(1)))
		c.speak(scripted.Tones("seven")[:24*300])
		c.g.Expect(m.given.Load()).To(gomega.Equal(int32(1)), "the draft is stopped")
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("response.created"))
		c.quiet(3000)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.Equal("You said: my number is seven"))
		c.g.Expect(c.count("response.created")).To(gomega.Equal(1))
	})
	story(t, "a transcript with other words is answered anew", func(t *testing.T) {
		c, m := callAhead(t, true, "turn it off", "turn it on")
		c.oneTurn(3000)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.Equal("You said: turn it on"))
		c.g.Expect(m.begun.Load()).To(gomega.Equal(int32(2)))
		for _, e := range c.All() {
			if d, is := e.(*wire.ResponseOutputAudioTranscriptDelta); is {
				c.g.Expect(d.Delta).NotTo(gomega.ContainSubstring("off"))
			}
		}
	})
	story(t, "a tool call waits for the end of the turn", func(t *testing.T) {
		c, _ := callAhead(t, true, "call get_weather", "call get_weather")
		c.send(`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"get_weather","parameters":{}}]}}`)
		first(c, "session.updated")
		c.oneTurn(480)
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("response.created"))
		c.quiet(2000)
		first(c, "input_audio_buffer.committed")
		first(c, "response.function_call_arguments.done")
	})
	story(t, "a turn that nobody answers has no draft", func(t *testing.T) {
		c, m := callAhead(t, true, "hello there", "hello there")
		c.settle(`"audio":{"input":{"turn_detection":{"type":"server_vad","create_response":false}}}`)
		c.oneTurn(1500)
		first(c, "input_audio_buffer.committed")
		c.g.Expect(m.begun.Load()).To(gomega.BeZero())
	})
	story(t, "the call ends while a draft is made", func(t *testing.T) {
		c, m := callAhead(t, true, "hello there", "hello there")
		c.oneTurn(300)
		c.g.Expect(m.begun.Load()).To(gomega.Equal(int32(1)))
		c.s.Close(0)
		<-c.s.Done()
		c.g.Expect(m.given.Load()).To(gomega.Equal(int32(1)))
	})
}

// budget counts what a session takes from it.
type budget struct{ requests, tokens int }

// Begin implements ratelimit.Limiter.
func (b *budget) Begin() (time.Duration, bool) {
	b.requests++
	return 0, true
}

// Spend implements ratelimit.Limiter.
func (b *budget) Spend(tokens int) []wire.RateLimit {
	b.tokens += tokens
	return nil
}

// TestDraftsCost: a draft takes one request from the budget, which is that of the response that adopts it. A draft that is thrown away costs the tokens
// that the model has read.
func TestDraftsCost(t *testing.T) {
	for final, want := range map[string]int{"turn it off": 1, "turn it on": 2} {
		story(t, final, func(t *testing.T) {
			var spent budget
			c := newCallerWith(t, Config{
				Pipeline: afterSound{words: "turn it off", after: 300 * time.Millisecond, final: final}.pipeline(),
				Settings: wire.DefaultSession(), AnswerAhead: true, Shared: Shared{Limits: &spent},
			})
			c.pacer = newPacer(c.s, nil)
			c.start()
			c.oneTurn(3000)
			used := next[*wire.ResponseDone](c, "response.done").Response.Usage.TotalTokens
			c.quiet(200)
			c.g.Expect(spent.requests).To(gomega.Equal(want))
			c.g.Expect(spent.tokens > used).To(gomega.Equal(want > 1), "%d of %d", used, spent.tokens)
		})
	}
}

// TestDraftFails: a model that fails while it writes a draft is asked again when the turn has ended.
func TestDraftFails(t *testing.T) {
	story(t, "once", func(t *testing.T) {
		p := afterSound{words: "now", after: 300 * time.Millisecond}.pipeline()
		var calls atomic.Int32
		p.Model = model{p.Model, func(_ context.Context, emit func(pipeline.ModelEvent) error) error {
			if calls.Add(1) == 1 {
				return pipeline.ErrBusy
			}
			return emit(pipeline.TextDelta{Text: "Here I am."})
		}}
		c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), AnswerAhead: true})
		c.pacer = newPacer(c.s, nil)
		c.start()
		c.oneTurn(3000)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.Equal("Here I am."))
		c.g.Expect(calls.Load()).To(gomega.Equal(int32(2)))
	})
}
