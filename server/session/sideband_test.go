package session

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/wire"
)

// onlooker controls a call from the side. What it is told is what it alone is told.
type onlooker struct {
	c    *caller
	side call.SidebandController
	told chan wire.ServerEvent
}

// side joins the call; rules: it may change what is locked.
func (c *caller) side(rules bool) *onlooker {
	c.t.Helper()
	o := &onlooker{c: c, told: make(chan wire.ServerEvent, 16)}
	o.side.Rules = rules
	o.side.Answer = func(sent call.Event) {
		e, err := wire.DecodeServer(sent.Text)
		if err != nil {
			c.t.Errorf("the session sent %.200s: %v", sent.Text, err)
			return
		}
		o.told <- e
	}
	return o
}

func (o *onlooker) send(text string) { o.c.s.Control(&o.side, []byte(text), true) }

// refused sends an event and wants an error with that code for it.
func (o *onlooker) refused(text, code string) {
	o.c.t.Helper()
	o.send(text)
	o.erred(code)
}

// errs wants the next that it alone is told to be an error with that code.
func (o *onlooker) erred(code string) {
	o.c.t.Helper()
	e, is := (<-o.told).(*wire.ErrorEvent)
	o.c.g.Expect(is).To(gomega.BeTrue())
	o.c.g.Expect(e.Error.Code).To(gomega.Equal(code))
	o.c.g.Expect(e.ID()).NotTo(gomega.BeEmpty())
}

// TestErrorsAreOfWhoeverErred: real clients take an error for one of their own; some end the call over one that they do not know.
func TestErrorsAreOfWhoeverErred(t *testing.T) {
	story(t, "who controls the call from the side", func(t *testing.T) {
		c := byWebRTC(t, plain())
		side, other := c.side(true), c.side(false)
		side.refused(`{"type":"nonsense"}`, wire.CodeUnknownEvent)
		side.refused(`not json`, wire.CodeInvalidJSON)
		side.refused(`{"type":"response.cancel"}`, "response_cancel_not_active")
		c.s.Control(&side.side, []byte{1}, false)
		side.erred(wire.CodeInvalidJSON)
		c.s.RefuseSideband(&side.side, "message_too_large", "send less")
		side.erred("message_too_large")
		side.send(`{"type":"input_audio_buffer.clear"}`)
		first(c, "input_audio_buffer.cleared")
		c.g.Expect(c.count("error")).To(gomega.BeZero())
		c.g.Expect(other.told).To(gomega.BeEmpty())
	})

	story(t, "the client", func(t *testing.T) {
		c := byShared(t, Config{})
		side := c.side(true)
		c.send(`{"type":"nonsense"}`)
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal(wire.CodeUnknownEvent))
		c.s.Refuse("rate_limit_exceeded", "slower")
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal("rate_limit_exceeded"))
		c.g.Expect(c.alone.Load()).To(gomega.BeEquivalentTo(2))
		c.g.Expect(side.told).To(gomega.BeEmpty())
	})

	story(t, "nobody: it is for all", func(t *testing.T) {
		c := byShared(t, Config{Longest: time.Minute})
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal("session_expired"))
		c.g.Expect(c.alone.Load()).To(gomega.BeZero())
	})
}

// shared is a caller's link over which others hear the session, too.
type shared struct {
	*caller
	alone atomic.Int32 // events that were for the caller alone
}

// SendToPrimary implements call.Shared.
func (l *shared) SendToPrimary(e call.Event, sent func()) error {
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
