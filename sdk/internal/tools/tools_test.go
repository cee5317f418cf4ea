package tools

import (
	"strconv"
	"testing"

	"github.com/onsi/gomega"
)

func calls() Calls[string] { return New(map[string]string{"clock": "the clock"}) }

func TestACallRunsOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	c := calls()
	for _, row := range []struct {
		id, name string
		want     Outcome
	}{{"1", "clock", Queued}, {"1", "clock", Twice}, {"2", "moon", Unknown}, {"2", "clock", Twice}} {
		_, got := c.Take(row.id, row.name, "{}")
		g.Expect(got).To(gomega.Equal(row.want), "%v", row)
	}
	none := New(map[string]string{})
	_, got := none.Take("1", "clock", "{}")
	g.Expect(got).To(gomega.Equal(Foreign))
}

func TestSoManyCallsRunAtATime(t *testing.T) {
	g := gomega.NewWithT(t)
	c := calls()
	for i := range maxCalls {
		_, got := c.Take(strconv.Itoa(i), "clock", "")
		g.Expect(got).To(gomega.Equal(Queued))
	}
	_, got := c.Take("one more", "clock", "")
	g.Expect(got).To(gomega.Equal(TooMany))
	first, ok := c.Next(2)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(first).To(gomega.And(gomega.HaveField("ID", "0"), gomega.HaveField("Tool", "the clock")))
	_, ok = c.Next(2)
	g.Expect(ok).To(gomega.BeTrue())
	_, ok = c.Next(2)
	g.Expect(ok).To(gomega.BeFalse())
	g.Expect(c.Ran(first)).To(gomega.BeTrue())
	_, ok = c.Next(2)
	g.Expect(ok).To(gomega.BeTrue())
}

// ran returns the calls after one call has run and its result is sent.
func ran(g *gomega.WithT) Calls[string] {
	c := calls()
	c.Take("1", "clock", "")
	call, ok := c.Next(1)
	g.Expect(ok && c.Busy()).To(gomega.BeTrue())
	g.Expect(c.AskNow()).To(gomega.BeFalse(), "a tool runs")
	g.Expect(c.Ran(call)).To(gomega.BeTrue())
	c.Sent(call)
	return c
}

func TestResultsGetOneAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	c := ran(g)
	g.Expect(c.AskNow()).To(gomega.BeTrue())
	g.Expect(c.AskNow()).To(gomega.BeFalse())
	g.Expect(c.Busy()).To(gomega.BeFalse())
}

func TestAResponseAnswersWhatTheServerHas(t *testing.T) {
	g := gomega.NewWithT(t)
	c := ran(g)
	c.Answered()
	g.Expect(c.Busy()).To(gomega.BeTrue(), "the response began before the server had the result")
	c.Taken("another")
	c.Answered()
	g.Expect(c.Busy()).To(gomega.BeTrue(), "that was the result of another client")
	c.Taken("1")
	c.Answered()
	g.Expect(c.Busy()).To(gomega.BeFalse())
	c.Taken("1") // again: the count stays at 0
	c = ran(g)
	c.ResultRefused()
	c.Answered()
	g.Expect(c.Busy()).To(gomega.BeFalse())
}

func TestARefusedAnswerIsAskedForAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	c := ran(g)
	for range maxRefusals {
		g.Expect(c.AskNow()).To(gomega.BeTrue())
		g.Expect(c.AnswerRefused()).To(gomega.BeTrue())
	}
	g.Expect(c.AnswerRefused()).To(gomega.BeFalse())
	c.Answered()
	g.Expect(c.AnswerRefused()).To(gomega.BeTrue())
}

func TestTheUserInterruptsATool(t *testing.T) {
	g := gomega.NewWithT(t)
	c := calls()
	c.Take("1", "clock", "")
	call, _ := c.Next(1)
	c.Interrupted()
	g.Expect(c.Ran(call)).To(gomega.BeTrue(), "the server gets the result")
	c.Sent(call)
	g.Expect(c.Busy()).To(gomega.BeFalse(), "but nobody asks for an answer")
}

func TestALostConversationGetsNoResult(t *testing.T) {
	g := gomega.NewWithT(t)
	c := calls()
	c.Take("1", "clock", "")
	c.Take("2", "clock", "")
	call, _ := c.Next(1)
	c.ConversationLost()
	g.Expect(c.Ran(call)).To(gomega.BeFalse())
	g.Expect(c.Busy()).To(gomega.BeFalse())
	_, got := c.Take("3", "clock", "")
	g.Expect(got).To(gomega.Equal(Queued))
	call, _ = c.Next(1)
	g.Expect(c.Ran(call)).To(gomega.BeTrue())
}

func TestTheLastCallsAreRemembered(t *testing.T) {
	g := gomega.NewWithT(t)
	c := calls()
	for i := range maxCalls + 1 {
		c.Take(strconv.Itoa(i), "moon", "")
	}
	_, got := c.Take("1", "moon", "")
	g.Expect(got).To(gomega.Equal(Twice))
	_, got = c.Take("0", "moon", "")
	g.Expect(got).To(gomega.Equal(Unknown), "it is forgotten")
}
