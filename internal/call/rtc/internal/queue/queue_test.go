package queue

// The limits of the queue.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

func TestQueueBounds(t *testing.T) {
	g := gomega.NewWithT(t)
	q := New(3, 10)
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
