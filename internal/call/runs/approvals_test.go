package runs

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// at is when all happens.
var at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestWhichTurnAnswers: a turn answers if it begins after the question was played to its end, and nothing came between.
func TestWhichTurnAnswers(t *testing.T) {
	pending := func(run string) Pending {
		return Pending{Run: run, Tool: "book", Interaction: "ia_1", Approval: true, Arguments: json.RawMessage(`{}`)}
	}
	// The calls of a story, in order. Response 1 asks.
	waits := func(a *Approvals) { a.Waits(pending("run_1")) }
	asks := func(a *Approvals) {
		a.Asking(machine.Request{Client: 7}, FindWords("en"), "")
		a.Created(1, machine.Request{Client: 7})
	}
	played := func(a *Approvals) { a.Played(1, at) }
	opened := func(a *Approvals) { a.Opened(5, at) }
	for name, row := range map[string]struct {
		calls    []func(*Approvals)
		answered bool
	}{
		"the answer":                       {[]func(*Approvals){waits, asks, played, opened}, true},
		"nothing waits":                    {[]func(*Approvals){opened}, false},
		"nobody asked":                     {[]func(*Approvals){waits, opened}, false},
		"before the end of the question":   {[]func(*Approvals){waits, asks, opened, played}, false},
		"another response was played":      {[]func(*Approvals){waits, asks, func(a *Approvals) { a.Played(2, at) }, opened}, false},
		"the question was cut":             {[]func(*Approvals){waits, asks, func(a *Approvals) { a.Cut(1) }, played, opened}, false},
		"it was cut when it seemed played": {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Cut(1) }}, false},
		"another response was cut":         {[]func(*Approvals){waits, asks, func(a *Approvals) { a.Cut(2) }, played, opened}, true},
		"another response came between":    {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Created(2, machine.Request{Turn: 4}) }, opened}, false},
		"another response in place of it": {[]func(*Approvals){waits, func(a *Approvals) {
			a.Asking(machine.Request{Client: 7}, FindWords("en"), "")
			a.Created(1, machine.Request{Client: 8})
		}, played, opened}, false},
		"another run waits":                 {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Waits(pending("run_2")) }, opened}, false},
		"another run waits during the turn": {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Waits(pending("run_2")) }}, false},
		"it was answered elsewhere":         {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.Settled("run_1") }}, false},
		"the run asks something else now":   {[]func(*Approvals){waits, asks, played, opened, waits}, false},
		"its sound may not have arrived":    {[]func(*Approvals){waits, asks, played, opened, func(a *Approvals) { a.forget() }}, false},
		"it was in another language": {[]func(*Approvals){waits, func(a *Approvals) {
			a.Asking(machine.Request{Client: 7}, FindWords("de"), "")
			a.Created(1, machine.Request{Client: 7})
		}, played, opened}, false},
		"two turns before the first is read": {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4, at) }, opened}, false},
		"a turn without words before it":     {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4, at); a.Discarded(4) }, opened}, true},
		"a refused voice before it":          {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4, at); a.Said(4, "", FindWords("en")) }, opened}, true},
		"other words before it":              {[]func(*Approvals){waits, asks, played, func(a *Approvals) { a.Opened(4, at); a.Said(4, "why", FindWords("en")) }, opened}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var a Approvals
			for _, call := range row.calls {
				call(&a)
			}
			p, with := a.Said(5, "yes", FindWords("en"))
			g.Expect([]bool{p != nil, with.Approves}).To(gomega.Equal([]bool{row.answered, row.answered}))
			again, _ := a.Said(5, "yes", FindWords("en"))
			g.Expect(again).To(gomega.BeNil(), "a turn answers once")
		})
	}
}

// TestWhenTheServerAsks: for the only approval, three times at most, and not again once it is answered.
func TestWhenTheServerAsks(t *testing.T) {
	g := gomega.NewWithT(t)
	var a Approvals
	en := FindWords("en")
	asks := func() bool {
		_, ok := a.Question(en)
		return ok && a.Due()
	}
	g.Expect(asks()).To(gomega.BeFalse())
	a.Waits(Pending{Run: "run_1", Tool: "book", Prompt: "<html>"})
	g.Expect(asks()).To(gomega.BeFalse(), "a question that cannot be said")
	a.Waits(Pending{Run: "run_1", Tool: "book", Approval: true, Arguments: json.RawMessage(`{}`)})
	for i := range mostAsked {
		g.Expect(asks()).To(gomega.BeTrue())
		why := machine.Request{Client: uint64(i + 1)}
		a.Asking(why, en, "")
		g.Expect(asks()).To(gomega.BeFalse())
		a.Created(1, why)
		g.Expect(asks()).To(gomega.BeFalse())
		a.Cut(1)
	}
	g.Expect(asks()).To(gomega.BeFalse(), "three times")
	a.Waits(Pending{Run: "run_1", Tool: "book", Interaction: "ia_2", Approval: true, Arguments: json.RawMessage(`{}`)})
	a.Asking(machine.Request{Client: 9}, en, "")
	a.Created(2, machine.Request{Client: 9})
	a.Played(2, at)
	a.Opened(5, at)
	_, with := a.Said(5, "yes", en)
	g.Expect(with.Approves).To(gomega.BeTrue())
	g.Expect(asks()).To(gomega.BeFalse(), "it is answered")
	a.Refused("run_1")
	g.Expect(asks()).To(gomega.BeTrue(), "the answer was not stored")
	a.Settled("run_1")
	g.Expect(asks()).To(gomega.BeFalse())
}

// TestWhichTurnReplies: the rules of an approval hold for a question, too. Besides, the turn must begin soon after it, and the user may put it off.
func TestWhichTurnReplies(t *testing.T) {
	en := FindWords("en")
	asked := func(p Pending) *Approvals {
		a := &Approvals{}
		a.Waits(p)
		text, ok := a.Question(en)
		gomega.NewWithT(t).Expect([]bool{ok, a.Due()}).To(gomega.Equal([]bool{true, true}))
		a.Asking(machine.Request{Client: 7}, en, text)
		a.Created(1, machine.Request{Client: 7})
		a.Played(1, at)
		return a
	}
	text := Pending{Run: "run_1", Tool: "book", Prompt: "Where to?"}
	choice := Pending{Run: "run_1", Tool: "book", Prompt: "Where to?", Choices: []string{"Oslo", "Rome"}}
	approval := Pending{Run: "run_1", Tool: "book", Approval: true, Arguments: json.RawMessage(`{}`)}
	for name, row := range map[string]struct {
		asks  Pending
		after time.Duration
		said  string
		want  *Answer
	}{
		"any words":                        {text, 0, "To Oslo, please.", &Answer{Reply: "To Oslo, please."}},
		"at the end of the time":           {text, replyTime, "Oslo", &Answer{Reply: "Oslo"}},
		"too late":                         {text, replyTime + 1, "Oslo", nil},
		"a choice":                         {choice, 0, "I'll take Oslo.", &Answer{Reply: "Oslo"}},
		"a choice, too late":               {choice, replyTime + 1, "Oslo", nil},
		"no choice":                        {choice, 0, "Bergen", nil},
		"later":                            {text, 0, "Not now, thanks.", &Answer{Later: true}},
		"a yes to a question is its words": {text, 0, "yes", &Answer{Reply: "yes"}},
		"a yes to an approval, late":       {approval, time.Minute, "yes", &Answer{Approves: true}},
		"other words to an approval":       {approval, 0, "Oslo", nil},
		"later to an approval":             {approval, 0, "later", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			a := asked(row.asks)
			a.Opened(5, at.Add(row.after))
			p, with := a.Said(5, row.said, en)
			if row.want == nil {
				g.Expect(p).To(gomega.BeNil())
				g.Expect(a.Due()).To(gomega.BeTrue(), "it is asked again")
				return
			}
			g.Expect(p).NotTo(gomega.BeNil())
			g.Expect(with).To(gomega.Equal(*row.want))
			g.Expect(a.Due()).To(gomega.BeFalse(), "it is not asked again")
		})
	}
	t.Run("a question that was put off does not stand in the way of another one", func(t *testing.T) {
		g := gomega.NewWithT(t)
		a := asked(text)
		a.Opened(5, at)
		a.Said(5, "later", en)
		_, ok := a.Question(en)
		g.Expect(ok).To(gomega.BeFalse())
		other := approval
		other.Run = "run_2"
		a.Waits(other)
		_, ok = a.Question(en)
		g.Expect([]bool{ok, a.Due()}).To(gomega.Equal([]bool{true, true}))
		a.Waits(text) // it asks something new
		g.Expect(a.Due()).To(gomega.BeFalse(), "two runs wait")
	})
}
