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
