package session

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// The duties of the driver that no machine watches: what it waits for, which timers it sets, and whom it joins.

// asked is a model that notes what it is asked, and what its client was told until then.
type asked struct {
	pipeline.Model
	told func() int // counts the events that the client was told of

	mu       sync.Mutex
	requests []pipeline.Request
	counts   []int
}

// Generate implements pipeline.Model.
func (a *asked) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	a.mu.Lock()
	a.requests, a.counts = append(a.requests, r), append(a.counts, a.told())
	a.mu.Unlock()
	return a.Model.Generate(ctx, r, emit)
}

// last returns the last thing that the model was asked, and the count of that moment.
func (a *asked) last() (pipeline.Request, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[len(a.requests)-1], a.counts[len(a.counts)-1]
}

// TestModelIsAskedAfterTheCut: a client that reports takes its time to say what it heard of a reply that was cut off. The model is
// not asked before, and is told no word that nobody heard.
func TestModelIsAskedAfterTheCut(t *testing.T) {
	for name, silent := range map[string]bool{"the client says what it heard": false, "the client says nothing": true} {
		story(t, name, func(t *testing.T) {
			pipe := plain()
			model := &asked{Model: pipe.Model}
			pipe.Model = model
			p := byPredictor(t, pipe, trip{up: 300 * time.Millisecond, down: 20 * time.Millisecond, media: 65 * time.Millisecond})
			model.told = func() int { return p.count("conversation.item.truncated") }
			p.noHeard = silent
			p.roundTrip.Store(int64(time.Second))
			p.ask("say 40 words")
			first(p.caller, "output_audio_buffer.started")
			p.quiet(4000)
			p.send(`{"type":"response.cancel"}`)
			p.send(`{"type":"output_audio_buffer.clear"}`)
			p.ask("hello")
			first(p.caller, "conversation.item.truncated")
			first(p.caller, "output_audio_buffer.started")
			request, truncations := model.last()
			p.g.Expect(truncations).To(gomega.Equal(1), "it is asked when the reply is cut")
			for _, m := range request.Messages {
				if m.Role == pipeline.RoleAssistant {
					p.g.Expect(len(strings.Fields(m.Text))).To(gomega.BeNumerically("<", 20), "of 40 words, it is told those of 4 s")
				}
			}
		})
	}
}

// TestSecondAbsenceEnds: a client is away for the second time, asks to be waited for, and never comes.
func TestSecondAbsenceEnds(t *testing.T) {
	story(t, "the session waits as long as it says, and ends", func(t *testing.T) {
		c := byReturning(t, true)
		c.s.Failed(errGone)
		wait(time.Second)
		c.s.Restored()
		wait(time.Second)
		c.s.Failed(errGone)
		wait(30 * time.Second)
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeTrue())
		wait(keep - time.Second)
		c.g.Expect(c.s.Done()).NotTo(gomega.BeClosed())
		wait(2 * time.Second)
		c.g.Expect(c.s.Done()).To(gomega.BeClosed())
	})
}

// slowToLeave is a recogniser whose streams take their time to end.
type slowToLeave struct{ left *atomic.Bool }

// Open implements pipeline.Transcriber.
func (s slowToLeave) Open(ctx context.Context, _ pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	<-ctx.Done()
	<-time.After(3 * time.Second)
	s.left.Store(true)
	return nil, ctx.Err()
}

// TestWorkersAreJoined: Done says that every goroutine of the session has ended, also one that takes its time.
func TestWorkersAreJoined(t *testing.T) {
	story(t, "a recogniser that is slow to leave", func(t *testing.T) {
		var left atomic.Bool
		pipe := plain()
		pipe.Transcriber = slowToLeave{&left}
		c := byWebSocket(t, pipe)
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		c.g.Expect(left.Load()).To(gomega.BeTrue())
	})
}

// TestFallbackEndsATurn: a turn whose end nobody recognises ends by the time-out of its eagerness, and by no other one.
func TestFallbackEndsATurn(t *testing.T) {
	for eagerness, want := range map[string]time.Duration{"high": 2 * time.Second, "medium": 4 * time.Second, "low": 8 * time.Second} {
		story(t, eagerness, func(t *testing.T) {
			pipe := plain()
			pipe.Transcriber = hears(func(ctx context.Context, audio <-chan struct{}, say func(pipeline.TranscriptResult)) {
				select {
				case <-audio:
					say(pipeline.TranscriptResult{Final: true, Text: "hello"})
				case <-ctx.Done():
				}
			})
			c := byWebRTC(t, pipe)
			c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"` + eagerness + `","create_response":true,"interrupt_response":true}}}`)
			c.quiet(300)
			c.speak(scripted.Tones("hello"))
			began := time.Now()
			c.tap = func(e wire.ServerEvent) {
				if e.Type() == "input_audio_buffer.committed" {
					c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", want, 400*time.Millisecond))
				}
			}
			c.quiet(12_000)
			first(c, "input_audio_buffer.committed")
		})
	}
}
