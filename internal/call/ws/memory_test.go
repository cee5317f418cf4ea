package ws

// The budget of memory for large messages.

import (
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
)

// TestLargeMessages checks that a message of 15 MiB arrives, that large messages share a budget of bytes, and that each connection may send
// small ones whatever the others send.
func TestLargeMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	memory := NewMemory(40 << 20)
	p.link.limits.MaxMessage, p.link.limits.Memory = 16<<20, memory
	p.link.limits.EventsPerSecond = 1 << 20
	p.link.Begin()
	send := func(size int) {
		g.Expect(p.client.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", size)))).To(gomega.Succeed())
	}
	arrives := func(size int) {
		g.Eventually(p.got.messages, patience).Should(gomega.Receive(gomega.HaveLen(size)))
	}
	for _, size := range []int{15 << 20, 16 << 20, ownMessage, ownMessage + 1} {
		send(size)
		arrives(size)
	}
	send(16<<20 + 1)
	g.Eventually(p.got.refused, patience).Should(gomega.Receive(gomega.Equal("message_too_large")))
	g.Eventually(func() bool { return memory.take(40 << 20) }, patience).Should(gomega.BeTrue(), "everything was given back, and is taken now")
	send(ownMessage + 1)
	g.Eventually(p.got.refused, patience).Should(gomega.Receive(gomega.Equal("server_busy")))
	send(ownMessage)
	arrives(ownMessage)
	memory.give(40 << 20)
	send(1 << 20)
	arrives(1 << 20)
	p.link.Abandon()
}

// TestLargeMessagesCountUntilTheyAreHandled checks that a message counts for the budget as long as its receiver keeps it.
func TestLargeMessagesCountUntilTheyAreHandled(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	const total = 8 << 20
	memory := NewMemory(total)
	p.awaited = make(chan chan struct{}, 1)
	p.link.limits.MaxMessage, p.link.limits.Memory = 4<<20, memory
	p.link.limits.EventsPerSecond = 1 << 20
	p.link.Begin()
	for range 2 {
		g.Expect(p.client.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", 1<<20)))).To(gomega.Succeed())
		g.Eventually(p.got.messages, patience).Should(gomega.Receive())
		var done chan struct{}
		g.Eventually(p.awaited, patience).Should(gomega.Receive(&done))
		g.Expect(memory.Free()).To(gomega.BeNumerically("<=", total-1<<20))
		close(done)
		g.Eventually(memory.Free, patience).Should(gomega.Equal(int64(total)))
	}
	p.link.Abandon()
}
