package rtc

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// fragment lets a client send its events in pieces of at most n bytes, which pion has no setting for.
func (c *client) fragment(g gomega.Gomega, n uint32) {
	g.Eventually(c.opened.Load, soon).Should(gomega.BeTrue())
	association := reflect.ValueOf(c.pc.SCTP()).Elem().FieldByName("sctpAssociation").Elem()
	*(*uint32)(unsafe.Pointer(association.FieldByName("maxPayloadSize").UnsafeAddr())) = n
}

// TestEventsInTinyPieces checks that a client cannot keep a processor busy with the pieces of its events, whether they are of one event or of many.
func TestEventsInTinyPieces(t *testing.T) {
	for name, events := range map[string][]string{
		"one event":   {strings.Repeat("x", maxPieces+1)},
		"many events": slices.Repeat([]string{strings.Repeat("x", 100)}, 2*maxPieces/100),
	} {
		t.Run(name, func(t *testing.T) {
			g, r := gomega.NewWithT(t), &recorder{}
			c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
			connected(g, r)
			c.fragment(g, 1)
			for _, e := range events {
				_ = c.events.SendText(e) // the server may have ended the call
			}
			g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrTooManyPieces))
		})
	}
}

// TestEventsThatWait checks that the call of a client ends that goes on sending events which the server does not take, however small they are.
func TestEventsThatWait(t *testing.T) {
	g, r := gomega.NewWithT(t), &blocked{taken: make(chan struct{})}
	c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, &r.recorder)
	for range maxPieces - 1 {
		g.Expect(c.events.SendText("x")).To(gomega.Succeed())
	}
	g.Eventually(c.events.BufferedAmount, soon).Should(gomega.BeZero())
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
	for range 3 {
		g.Expect(c.events.SendText("x")).To(gomega.Succeed())
	}
	g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrTooManyPieces))
	close(r.taken)
}

// blocked is a Handler that takes no event until taken is closed.
type blocked struct {
	recorder
	taken chan struct{}
}

func (b *blocked) Message([]byte, bool) { <-b.taken }

// TestEventsOverABadNetwork checks that the largest events arrive, and many small ones, where packets are lost and overtake each other.
func TestEventsOverABadNetwork(t *testing.T) {
	g, r := gomega.NewWithT(t), &recorder{}
	c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	c.net.bad.Store(true)
	var want []string
	for i := range 40 {
		want = append(want, strings.Repeat("y", 256<<10-i), strings.Repeat("z", 1+i))
	}
	for i := range 2000 {
		want = append(want, strings.Repeat("w", 1+i%100))
	}
	for _, e := range want {
		g.Expect(c.events.SendText(e)).To(gomega.Succeed())
	}
	g.Eventually(func() int { r.mu.Lock(); defer r.mu.Unlock(); return len(r.messages) }, 6*soon).Should(gomega.Equal(len(want)))
	r.do(func() { g.Expect(slices.Equal(r.messages, want)).To(gomega.BeTrue()) })
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}
