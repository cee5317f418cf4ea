package queue

// The limits of the queue.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/link"
)

func TestQueueBounds(t *testing.T) {
	g := gomega.NewWithT(t)
	q := New(3, 10, nil)
	for range 3 {
		g.Expect(q.Push([]byte("abc"))).To(gomega.Succeed())
	}
	event, ok := q.Pop()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(string(event)).To(gomega.Equal("abc"))
	g.Expect(q.Push([]byte("abcd"))).To(gomega.Succeed(), "ten bytes fit")
	g.Expect(q.Push([]byte("x"))).To(gomega.MatchError(link.ErrBackpressure))
	q.Close(link.ErrClosed)
	g.Expect(q.Push([]byte("x"))).To(gomega.MatchError(link.ErrBackpressure), "the first error counts")
	_, ok = q.Pop()
	g.Expect(ok).To(gomega.BeFalse())
}

// The queues of a principal share memory: what is sent, or dropped at the end, is free again.
func TestQueuesShareMemory(t *testing.T) {
	g := gomega.NewWithT(t)
	budget := account.New(40)
	purse := account.Purse{Budget: budget, Payer: "tenant"}
	first, second := New(9, 100, purse.Open(2)), New(9, 100, purse.Open(2))
	g.Expect(first.Push(make([]byte, 17))).To(gomega.Succeed())
	g.Expect(budget.Free()).To(gomega.BeEquivalentTo(25), "two bytes are the call's own")
	g.Expect(second.Push(make([]byte, 9))).To(gomega.MatchError(link.ErrBackpressure))
	_, _ = first.Pop()
	g.Expect(budget.Free()).To(gomega.BeEquivalentTo(40))
	g.Expect(first.Push(make([]byte, 17))).To(gomega.Succeed())
	first.Seal(link.ErrClosed)
	first.Close(link.ErrClosed)
	g.Expect(budget.Free()).To(gomega.BeEquivalentTo(40))
}
