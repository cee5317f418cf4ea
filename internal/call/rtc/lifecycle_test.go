package rtc

// Closing a call while a Handler's method runs.

import (
	"testing"

	"github.com/onsi/gomega"
)

// stuck is a Handler whose Opened waits until it is released.
type stuck struct {
	recorder
	inside, release chan struct{}
}

func (s *stuck) Opened() {
	close(s.inside)
	<-s.release
	s.recorder.Opened()
}

// TestAHandlerMethodThatDoesNotReturnIsCountedApart checks that closing sees the difference between a goroutine of the peer and
// a Handler method that runs on it.
func TestAHandlerMethodThatDoesNotReturnIsCountedApart(t *testing.T) {
	g := gomega.NewWithT(t)
	h := &stuck{inside: make(chan struct{}), release: make(chan struct{})}
	life := newLifecycle()
	open := openHandler{life, h}
	work := make(chan struct{})
	g.Expect(life.start(open.Opened)).To(gomega.BeTrue())
	g.Expect(life.start(func() { <-work })).To(gomega.BeTrue())
	<-h.inside
	g.Expect(life.begin()).To(gomega.BeTrue())
	g.Expect(life.begin()).To(gomega.BeFalse())
	life.transportDown()
	g.Expect(life.quiet).NotTo(gomega.BeClosed(), "a goroutine still works")
	close(work)
	g.Eventually(life.quiet, soon).Should(gomega.BeClosed())
	g.Expect(life.ended).NotTo(gomega.BeClosed(), "the method still runs")
	close(h.release)
	g.Eventually(life.ended, soon).Should(gomega.BeClosed())
	g.Expect(life.start(func() {})).To(gomega.BeFalse())
	open.Audio([]int16{1})
	open.Failed(nil)
	g.Expect(h.audio).To(gomega.BeEmpty(), "the Handler gets no calls once closing has begun")
	g.Expect(h.failures).To(gomega.BeEmpty())
}

// TestCloseFromWithinLost closes a call in Lost, while the client's packets want to report that it is back.
func TestCloseFromWithinLost(t *testing.T) {
	g := gomega.NewWithT(t)
	h := &closer{peer: make(chan *Peer, 1), closed: make(chan error, 1)}
	_, p := dial(t, newTestEngine(t, Config{}), &closesInLost{h}, clientOptions{})
	connected(g, &h.recorder)
	h.peer <- p
	p.life.start(func() { p.reachable(false) })
	g.Eventually(h.closed, soon).Should(gomega.Receive(gomega.Not(gomega.HaveOccurred())))
	g.Expect(p.Close()).To(gomega.Succeed())
	g.Expect(p.done).To(gomega.BeClosed())
}

// closesInLost closes its call in Lost and not in Sent.
type closesInLost struct{ *closer }

func (c *closesInLost) Lost() { c.closer.Sent(0, 0, false) }
