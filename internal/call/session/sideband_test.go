package session

// Side-band controllers of a call, and who gets an error.

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/wire"
)

// controller is a side-band controller. told gets the events that go to it alone.
type controller struct {
	c    *caller
	side link.SidebandController
	told chan wire.ServerEvent
}

// sideband joins the call as a controller. rules says whether it may change locked fields.
func (c *caller) sideband(rules bool) *controller {
	c.t.Helper()
	o := &controller{c: c, told: make(chan wire.ServerEvent, 16)}
	o.side.Rules, o.side.Tab = rules, new(link.EventTab)
	o.side.Answer = func(sent link.Event) {
		e, err := wire.DecodeServer(sent.Text)
		if err != nil {
			c.t.Errorf("the session sent %.200s: %v", sent.Text, err)
			return
		}
		o.told <- e
	}
	return o
}

func (o *controller) send(text string) { o.c.s.Control(&o.side, []byte(text), true) }

// refused sends an event and expects an error with this code.
func (o *controller) refused(text, code string) {
	o.c.t.Helper()
	o.send(text)
	o.expectError(code)
}

// expectError expects that the next event for this controller alone is an error with this code.
func (o *controller) expectError(code string) {
	o.c.t.Helper()
	e, is := (<-o.told).(*wire.ErrorEvent)
	o.c.g.Expect(is).To(gomega.BeTrue())
	o.c.g.Expect(e.Error.Code).To(gomega.Equal(code))
	o.c.g.Expect(e.ID()).NotTo(gomega.BeEmpty())
}

// TestErrorsGoToTheSender: real clients take every error for an answer to one of their own events, and some end the call when they do
// not know it. So an error goes only to the client whose event caused it.
func TestErrorsGoToTheSender(t *testing.T) {
	story(t, "an error of a side-band controller", func(t *testing.T) {
		c := byWebRTC(t, plain())
		side, other := c.sideband(true), c.sideband(false)
		side.refused(`{"type":"nonsense"}`, wire.CodeUnknownEvent)
		side.refused(`not json`, wire.CodeInvalidJSON)
		side.refused(`{"type":"response.cancel"}`, "response_cancel_not_active")
		c.s.Control(&side.side, []byte{1}, false)
		side.expectError(wire.CodeInvalidJSON)
		c.s.RefuseSideband(&side.side, "message_too_large", "send less")
		side.expectError("message_too_large")
		side.send(`{"type":"input_audio_buffer.clear"}`)
		first(c, "input_audio_buffer.cleared")
		c.g.Expect(c.count("error")).To(gomega.BeZero())
		c.g.Expect(other.told).To(gomega.BeEmpty())
	})

	story(t, "an error of the primary client", func(t *testing.T) {
		c := byShared(t, Config{})
		side := c.sideband(true)
		c.send(`{"type":"nonsense"}`)
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal(wire.CodeUnknownEvent))
		c.s.Refuse("rate_limit_exceeded", "slower")
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal("rate_limit_exceeded"))
		c.g.Expect(c.alone.Load()).To(gomega.BeEquivalentTo(2))
		c.g.Expect(side.told).To(gomega.BeEmpty())
	})

	story(t, "an error without a sender goes to all", func(t *testing.T) {
		c := byShared(t, Config{Longest: time.Minute})
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal("session_expired"))
		c.g.Expect(c.alone.Load()).To(gomega.BeZero())
	})
}

// shared is a caller whose events side-band controllers get as well.
type shared struct {
	*caller
	alone atomic.Int32 // how many events were for the primary client alone
}

// SendToPrimary implements link.Shared.
func (l *shared) SendToPrimary(e link.Event, sent func()) error {
	l.alone.Add(1)
	return l.Send(e, sent)
}

func byShared(t *testing.T, cfg Config) *shared {
	t.Helper()
	cfg.Pipeline, cfg.Settings = plain(), wire.DefaultSession()
	l := &shared{caller: newCallerWith(t, cfg)}
	l.s.Start(l)
	l.start() // only the first counts
	return l
}
