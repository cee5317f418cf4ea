package logbook

// The link and the budget of a session, as they pass the deck.

import (
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// Link has a link pass the deck.
func (d *Deck) Link(to link.Link, can link.Capabilities) (link.Link, link.Capabilities) {
	l := &bookedLink{Link: to, d: d}
	if out := to.Output(); out != nil {
		l.out = &bookedOutput{out, can, d}
		if can.Timeline != nil {
			can.Timeline = l.out
		}
		if can.Receipts != nil {
			can.Receipts = l.out
		}
	}
	if can.Shared != nil {
		can.Shared = &bookedShared{l, can.Shared}
	}
	return l, can
}

// Limits has a budget pass the deck.
func (d *Deck) Limits(of ratelimit.Limiter) ratelimit.Limiter { return limits{d, of} }

// limits is a budget.
type limits struct {
	d  *Deck
	of ratelimit.Limiter
}

type admission struct {
	Wait time.Duration
	OK   bool
}

// The methods of ratelimit.Limiter.
func (l limits) Begin() (time.Duration, bool) {
	a := Ask(l.d, "budget", func() admission {
		wait, ok := l.of.Begin()
		return admission{wait, ok}
	})
	return a.Wait, a.OK
}

func (l limits) Spend(tokens int) []wire.RateLimit {
	return Ask(l.d, "spent", func() []wire.RateLimit { return l.of.Spend(tokens) })
}

// bookedLink is a link. A deck that plays has none.
type bookedLink struct {
	link.Link
	out *bookedOutput
	d   *Deck
}

// The methods of link.Link.
func (l *bookedLink) Output() link.Output {
	if l.out == nil {
		return nil
	}
	return l.out
}

func (l *bookedLink) Send(e link.Event, sent func()) error {
	return l.d.send(func() error { return l.Link.Send(e, sent) })
}

type bookedShared struct {
	*bookedLink
	of link.Shared
}

// SendToPrimary implements link.Shared.
func (l *bookedShared) SendToPrimary(e link.Event, sent func()) error {
	return l.d.send(func() error { return l.of.SendToPrimary(e, sent) })
}

// send asks for the outcome of a Send. Only a failure is in the logbook.
func (d *Deck) send(own func() error) (err error) {
	d.sends++
	what := "send-" + strconv.Itoa(d.sends)
	if d.plays != nil {
		if d.plays.pass(); !d.plays.has(what) {
			return nil
		}
		return Ask[error](d, what, nil)
	}
	if err = own(); err != nil {
		_ = Ask(d, what, func() error { return err }) // it is err
	}
	return err
}

// bookedOutput is an output with what it can.
type bookedOutput struct {
	link.Output
	can link.Capabilities
	d   *Deck
}

// The methods of link.Output.
func (o *bookedOutput) Hold() voice.Samples { return Ask(o.d, "held", o.Output.Hold) }
func (o *bookedOutput) Drop() voice.Samples { return Ask(o.d, "dropped", o.Output.Drop) }
func (o *bookedOutput) Sent() voice.Samples { return Ask(o.d, "sent", o.Output.Sent) }

// found is a value that there may be.
type found[T any] struct {
	Of T
	OK bool
}

// askFound is Ask for a value that there may be.
func askFound[T any](d *Deck, what string, own func() (T, bool)) (T, bool) {
	f := Ask(d, what, func() (f found[T]) {
		f.Of, f.OK = own()
		return f
	})
	return f.Of, f.OK
}

// The methods of link.Timeline.
func (o *bookedOutput) FirstSilent() (uint32, bool) {
	return askFound(o.d, "silent", func() (uint32, bool) { return o.can.Timeline.FirstSilent() })
}

func (o *bookedOutput) PositionAt(ts uint32) (link.Position, bool) {
	return askFound(o.d, "position", func() (link.Position, bool) { return o.can.Timeline.PositionAt(ts) })
}

// Missed implements link.Receipts.
func (o *bookedOutput) Missed(since uint64) (voice.Samples, bool) {
	return askFound(o.d, "missed", func() (voice.Samples, bool) { return o.can.Receipts.Missed(since) })
}
