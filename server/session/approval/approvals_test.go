package approval

import (
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/id"
)

// TestWhichTurnAnswers: a turn answers if it begins after the question was played to its end, and nothing came between.
func TestWhichTurnAnswers(t *testing.T) {
	pending := func(run string) Pending {
		return Pending{Run: run, Tool: "book", Interaction: "ia_1", Approval: true, Arguments: json.RawMessage(`{}`)}
	}
	// The calls of a story, in order. Response 1 asks.
	waits := func(a *Approvals) { a.Waits(pending("run_1")) }
	asks := func(a *Approvals) { a.Asking(id.Request{Client: 7}, Find("en")); a.Created(1, id.Request{Client: 7}) }
	played := func(a *Approvals) { a.Played(1) }
	opened := func(a *Approvals) { a.Opened(5) }
	for name, row := range map[string]struct {
		calls    []func(*Approvals)
		answered bool
	}{
		"the answer":                         {[]func(*Approvals){waits, asks, played, opened}, true},
		"nothing waits":                      {[]func(*Approvals){opened}, false},
		"nobody asked":                       {[]func(*Approvals){waits, opened}, false},
		"before the end of the question":     {[]func(*Approvals){waits, asks, opened, played}, false},
		"another response was played":        {[]func(*Approvals){waits, asks, func(a *Approvals) { a.Played(2) }, opened}, false},
		"the question was cut":               {[]func(*Approvals){waits, asks, func(a *Approvals) { a.Cut(1) }, played, opened}, false},
		"it was cut when it seemed played":   {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Cut(1) }}, false},
		"another response was cut":           {[]func(*Approvals){waits, asks, func(a *Approvals) { a.Cut(2) }, played, opened}, true},
		"another response came between":      {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Created(2, id.Request{Turn: 4}) }, opened}, false},
		"another response in place of it":    {[]func(*Approvals){waits, func(a *Approvals) { a.Asking(id.Request{Client: 7}, Find("en")); a.Created(1, id.Request{Client: 8}) }, played, opened}, false},
		"another run waits":                  {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Waits(pending("run_2")) }, opened}, false},
		"another run waits during the turn":  {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Waits(pending("run_2")) }}, false},
		"it was answered elsewhere":          {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Settled("run_1") }}, false},
		"the run asks something else now":    {[]func(*Approvals){waits, asks, played, opened, waits}, false},
		"its sound may not have arrived":     {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Lost() }}, false},
		"it was in another language":         {[]func(*Approvals){waits, func(a *Approvals) { a.Asking(id.Request{Client: 7}, Find("de")); a.Created(1, id.Request{Client: 7}) }, played, opened}, false},
		"two turns before the first is read": {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4) }, opened}, false},
		"a turn without words before it":     {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4); a.Discarded(4) }, opened}, true},
		"a refused voice before it":          {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4); a.Said(4, "", Find("en")) }, opened}, true},
		"other words before it":              {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4); a.Said(4, "why", Find("en")) }, opened}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var a Approvals
			for _, call := range row.calls {
				call(&a)
			}
			p, approves := a.Said(5, "yes", Find("en"))
			g.Expect([]bool{p != nil, approves}).To(gomega.Equal([]bool{row.answered, row.answered}))
			again, _ := a.Said(5, "yes", Find("en"))
			g.Expect(again).To(gomega.BeNil(), "a turn answers once")
		})
	}
}

// TestWhenTheServerAsks: for the only approval, three times at most, and not again once it is answered.
func TestWhenTheServerAsks(t *testing.T) {
	g := gomega.NewWithT(t)
	var a Approvals
	en := Find("en")
	asks := func() bool {
		_, ok := a.Question(en)
		return ok && a.Due()
	}
	g.Expect(asks()).To(gomega.BeFalse())
	a.Waits(Pending{Run: "run_1", Tool: "book", Arguments: json.RawMessage(`{}`)})
	g.Expect(asks()).To(gomega.BeFalse(), "a question that is no approval")
	a.Waits(Pending{Run: "run_1", Tool: "book", Approval: true, Arguments: json.RawMessage(`{}`)})
	for i := range mostAsked {
		g.Expect(asks()).To(gomega.BeTrue())
		why := id.Request{Client: uint64(i + 1)}
		a.Asking(why, en)
		g.Expect(asks()).To(gomega.BeFalse())
		a.Created(1, why)
		g.Expect(asks()).To(gomega.BeFalse())
		a.Cut(1)
	}
	g.Expect(asks()).To(gomega.BeFalse(), "three times")
	a.Waits(Pending{Run: "run_1", Tool: "book", Interaction: "ia_2", Approval: true, Arguments: json.RawMessage(`{}`)})
	a.Asking(id.Request{Client: 9}, en)
	a.Created(2, id.Request{Client: 9})
	a.Played(2)
	a.Opened(5)
	_, approves := a.Said(5, "yes", en)
	g.Expect(approves).To(gomega.BeTrue())
	g.Expect(asks()).To(gomega.BeFalse(), "it is answered")
	a.Refused("run_1")
	g.Expect(asks()).To(gomega.BeTrue(), "the answer was not stored")
	a.Settled("run_1")
	g.Expect(asks()).To(gomega.BeFalse())
}
