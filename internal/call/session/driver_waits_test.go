package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Duties of the driver that no machine checks: what it waits for, which timers it sets, and which goroutines it joins.

// requestModel is a model that records each request, and how many events of a kind the client had got by then.
type requestModel struct {
	pipeline.Model
	told func() int // counts the events that the client has got

	mu       sync.Mutex
	requests []pipeline.Request
	counts   []int
}

// Generate implements pipeline.Model.
func (a *requestModel) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	a.mu.Lock()
	a.requests, a.counts = append(a.requests, r), append(a.counts, a.told())
	a.mu.Unlock()
	return a.Model.Generate(ctx, r, emit)
}

// last returns the last request, and the count at that moment.
func (a *requestModel) last() (pipeline.Request, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[len(a.requests)-1], a.counts[len(a.counts)-1]
}

// TestModelIsAskedAfterTheCut: a client reports late how much it played of a cut response. The server asks the model only after the
// report, and the request has no word that the user did not hear.
func TestModelIsAskedAfterTheCut(t *testing.T) {
	for name, silent := range map[string]bool{"the client reports": false, "the client does not report": true} {
		story(t, name, func(t *testing.T) {
			pipe := plain()
			model := &requestModel{Model: pipe.Model}
			pipe.Model = model
			p := byPredictor(t, pipe, delays{up: 300 * time.Millisecond, down: 20 * time.Millisecond, media: 65 * time.Millisecond})
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
			p.g.Expect(truncations).To(gomega.Equal(1), "the model is asked after the response was cut")
			for _, m := range request.Messages {
				if m.Role == pipeline.RoleAssistant {
					p.g.Expect(len(strings.Fields(m.Text))).To(gomega.BeNumerically("<", 20), "of 40 words, the request has those of 4 s")
				}
			}
		})
	}
}

// TestTheSecondGracePeriodEnds: a client loses its connection for the second time, announces that it will reconnect, and does not.
func TestTheSecondGracePeriodEnds(t *testing.T) {
	story(t, "the session waits for the announced time, and ends", func(t *testing.T) {
		c := byReconnecting(t, true)
		c.s.Failed(errGone)
		wait(time.Second)
		c.s.Restored()
		wait(time.Second)
		c.s.Failed(errGone)
		wait(30 * time.Second)
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeTrue())
		wait(Keep - time.Second)
		c.g.Expect(c.s.Done()).NotTo(gomega.BeClosed())
		wait(2 * time.Second)
		c.g.Expect(c.s.Done()).To(gomega.BeClosed())
	})
}

// slowToEnd is a recogniser whose Open returns 2 s after its context has ended: within watchdog.Limits.Close, so that it is not abandoned.
type slowToEnd struct{ left *atomic.Bool }

// Open implements pipeline.Transcriber.
func (s slowToEnd) Open(ctx context.Context, _ pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	<-ctx.Done()
	<-time.After(2 * time.Second)
	s.left.Store(true)
	return nil, ctx.Err()
}

// TestWorkersAreJoined: Done is closed only when every goroutine of the session has ended, also a slow one.
func TestWorkersAreJoined(t *testing.T) {
	story(t, "a recogniser that ends late", func(t *testing.T) {
		var left atomic.Bool
		pipe := plain()
		pipe.Transcriber = slowToEnd{&left}
		c := byWebSocket(t, pipe)
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		c.g.Expect(left.Load()).To(gomega.BeTrue())
	})
}

// hearsHello is a recogniser that never reports the end of an utterance.
var hearsHello = fakeRecogniser(func(ctx context.Context, audio <-chan struct{}, say func(pipeline.TranscriptResult)) {
	select {
	case <-audio:
		say(pipeline.TranscriptResult{Final: true, Text: "hello"})
	case <-ctx.Done():
	}
})

// settleEagerness asks for semantic_vad.
func (c *caller) settleEagerness(eagerness string) {
	c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"` + eagerness + `","create_response":true,"interrupt_response":true}}}`)
}

// TestFallbackEndsATurn: the recogniser does not find the end of the utterance. The turn ends after the time-out of its eagerness.
func TestFallbackEndsATurn(t *testing.T) {
	for eagerness, want := range map[string]time.Duration{"high": 2 * time.Second, "medium": 4 * time.Second, "low": 8 * time.Second} {
		story(t, eagerness, func(t *testing.T) {
			pipe := plain()
			pipe.Transcriber = hearsHello
			c := byWebRTC(t, pipe)
			c.settleEagerness(eagerness)
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

// TestEagernessCountsAtOnce: a client changes the eagerness while the user pauses. The pause ends after the new time, counted from the
// end of the speech.
func TestEagernessCountsAtOnce(t *testing.T) {
	for _, v := range []struct {
		from, to string
		at       int // ms of silence, at the change
		want     time.Duration
	}{
		{"low", "high", 500, 2 * time.Second},
		{"low", "high", 3000, 3 * time.Second},
		{"high", "low", 1000, 8 * time.Second},
		{"low", "low", 1000, 8 * time.Second},
	} {
		story(t, fmt.Sprintf("%s to %s after %d ms", v.from, v.to, v.at), func(t *testing.T) {
			pipe := plain()
			pipe.Transcriber = hearsHello
			c := byWebRTC(t, pipe)
			c.settleEagerness(v.from)
			c.quiet(300)
			c.speak(scripted.Tones("hello"))
			began := time.Now()
			c.quiet(v.at)
			c.tap = func(e wire.ServerEvent) {
				if e.Type() == "input_audio_buffer.committed" {
					c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", v.want, 400*time.Millisecond))
				}
			}
			c.settleEagerness(v.to)
			c.quiet(9_000)
			first(c, "input_audio_buffer.committed")
		})
	}
}

// TestACancelledResponseStopsItsModel: nobody pays for words that nobody wants.
func TestACancelledResponseStopsItsModel(t *testing.T) {
	story(t, "before its first word", func(t *testing.T) {
		c, m := callAhead(t, false, "", "")
		c.send(`{"type":"response.create"}`)
		wait(100 * time.Millisecond)
		c.g.Expect([]int32{m.begun.Load(), m.given.Load()}).To(gomega.Equal([]int32{1, 0}))
		c.send(`{"type":"response.cancel"}`)
		wait(100 * time.Millisecond)
		c.g.Expect(m.given.Load()).To(gomega.Equal(int32(1)))
	})
}
