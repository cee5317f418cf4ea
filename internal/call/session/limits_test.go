package session

// Rate limits: the budget of responses and tokens.

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/wire"
)

// fakeBudget is a Limits with a budget of responses. The session uses it up, and the test refills it.
type fakeBudget struct {
	mu           sync.Mutex
	left, tokens int
}

func (p *fakeBudget) fill(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = n
}

func (p *fakeBudget) spent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens
}

// Begin implements Limits.
func (p *fakeBudget) Begin() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return 1500 * time.Millisecond, false
	}
	p.left--
	return 0, true
}

// Spend implements Limits.
func (p *fakeBudget) Spend(tokens int) []wire.RateLimit {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens += tokens
	return []wire.RateLimit{{Name: "requests", Limit: 1, Remaining: p.left, ResetSeconds: 1.5}}
}

func TestLimits(t *testing.T) {
	story(t, "each response uses the budget, and fails when the budget is empty", func(t *testing.T) {
		p := &fakeBudget{left: 1}
		c := newCaller(t, plain())
		c.s.cfg.Limits = c.s.deck.Limits(p)
		c.start()
		c.ask("say 3 words")
		done := next[*wire.ResponseDone](c, "response.done")
		c.g.Expect(done.Response.Status).To(gomega.Equal("completed"))
		left := next[*wire.RateLimitsUpdated](c, "rate_limits.updated")
		c.g.Expect(left.RateLimits).To(gomega.Equal([]wire.RateLimit{{Name: "requests", Limit: 1, ResetSeconds: 1.5}}))
		c.g.Expect(p.spent()).To(gomega.And(gomega.BeNumerically(">", 0), gomega.Equal(done.Response.Usage.TotalTokens)))

		spent := p.spent()
		c.ask("say 3 words")
		done = next[*wire.ResponseDone](c, "response.done")
		c.g.Expect(done.Response.Status).To(gomega.Equal("failed"))
		c.g.Expect(done.Response.StatusDetails.Error.Code).To(gomega.Equal("rate_limit_exceeded"))
		c.g.Expect(done.Response.Usage.TotalTokens).To(gomega.BeZero(), "no model was asked")
		first(c, "rate_limits.updated")
		c.g.Expect(p.spent()).To(gomega.Equal(spent), "a refused response costs nothing")

		p.fill(1)
		c.ask("say 3 words")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"), "the session lives on")
	})
	story(t, "a refused response that is cancelled at once ends once", func(t *testing.T) {
		c := newCaller(t, plain())
		c.s.cfg.Limits = c.s.deck.Limits(&fakeBudget{})
		c.start()
		c.ask("say 3 words")
		c.send(`{"type":"response.cancel"}`)
		first(c, "response.done")
		wait(time.Second)
		c.g.Expect(c.count("response.done")).To(gomega.Equal(1))
	})
}

// AwaitHandled says when a message is handled, and waits for no session that has ended.
func TestAwaitHandled(t *testing.T) {
	story(t, "a session that works, and one that has ended", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.s.Message([]byte(`{"type":"input_audio_buffer.clear"}`), true)
		c.s.AwaitHandled(nil)
		c.g.Expect(c.Names()).To(gomega.ContainElement("input_audio_buffer.cleared"))
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		c.s.AwaitHandled(nil)
	})
}

// TestAnswersCount checks that a client owes the answers to its events to its limiter, and a side-band controller those to its own.
func TestAnswersCount(t *testing.T) {
	story(t, "settings of 200 kB, and updates that change nothing", func(t *testing.T) {
		c := byWebSocket(t, plain())
		side := &link.SidebandController{Rules: true, Answer: func(link.Event) {}, Tab: new(link.EventTab)}
		empty := []byte(`{"type":"session.update","session":{"type":"realtime"}}`)
		c.send(`{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("x", 200_000) + `"}}`)
		c.s.AwaitHandled(nil)
		c.g.Expect(c.s.Tab().Owes.Swap(0)).To(gomega.BeNumerically("~", 8*201_000, 16_000), "with its first answer, session.created")
		for range 3 {
			c.s.Message(empty, true)
		}
		c.s.Control(side, empty, true)
		c.s.AwaitHandled(nil)
		c.g.Expect(c.s.Tab().Owes.Swap(0)).To(gomega.BeNumerically("~", 8*603_000, 24_000))
		c.g.Expect(side.Tab.Owes.Swap(0)).To(gomega.BeNumerically("~", 8*201_000, 8000))
		c.send(`{"type":"input_audio_buffer.clear"}`)
		c.s.AwaitHandled(nil)
		c.g.Expect(c.s.Tab().Owes.Swap(0)).To(gomega.BeNumerically("<", 200))
	})
}
