package ws

// The budget of memory for large messages.

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// TestLargeMessages checks that a message of 15 MiB arrives, that large messages share a budget of bytes, and that each connection may send
// small ones whatever the others send.
func TestLargeMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	memory := account.New(40 << 20)
	p.link.limits.MaxMessage, p.link.limits.Memory = 16<<20, account.Purse{Budget: memory}
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
	g.Eventually(func() bool { return memory.Take("other", 20<<20) == nil }, patience).Should(gomega.BeTrue(), "everything was given back, and is taken now")
	memory.Resize(20 << 20)
	send(ownMessage + 1)
	g.Eventually(p.got.refused, patience).Should(gomega.Receive(gomega.Equal("server_busy")))
	send(ownMessage)
	arrives(ownMessage)
	memory.Resize(40 << 20)
	send(1 << 20)
	arrives(1 << 20)
	p.link.Abandon()
}

// TestTheTimeOfALargeMessageEndsWithIt checks that a client which has sent a large message in time may go on for longer than that.
func TestTheTimeOfALargeMessageEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		got, gone := make(chan int, 1), make(chan error, 1)
		receiver := Receiver{Tab: new(link.EventTab), Message: func(data []byte, _ bool) { got <- len(data) }, Gone: func(err error) { gone <- err }}
		_, near, end := overPipe(t, receiver, func(l *Link) {
			l.limits.MaxMessage, l.limits.Memory = 1<<20, account.Purse{Budget: account.New(8 << 20)}
		})
		go func() { _, _ = io.Copy(io.Discard, near) }() // pings
		large := binary.BigEndian.AppendUint64([]byte{0x81, 0xff}, 2*ownMessage)
		_, err := near.Write(append(large, make([]byte, 4+2*ownMessage)...))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(<-got).To(gomega.Equal(2 * ownMessage))
		<-time.After(messageTimeout)
		_, err = near.Write(masked(0x81, "still here"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		select {
		case n := <-got:
			g.Expect(n).To(gomega.Equal(len("still here")))
		case err := <-gone:
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
		end()
	})
}

// TestUnfinishedMessagesStarveNobody checks that the unfinished messages of one principal leave memory for those of another.
func TestUnfinishedMessagesStarveNobody(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	memory := account.New(68 << 20)
	for range 26 {
		_ = memory.Take("tenant", 16<<20) // it gets as many as it gets
	}
	p.link.limits.MaxMessage, p.link.limits.Memory = 16<<20, account.Purse{Budget: memory, Payer: "another"}
	p.link.limits.EventsPerSecond = 1 << 20
	p.link.Begin()
	g.Expect(p.client.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", 15<<20)))).To(gomega.Succeed())
	g.Eventually(p.got.messages, patience).Should(gomega.Receive(gomega.HaveLen(15 << 20)))
	p.link.Abandon()
}

// TestLargeMessagesCountUntilTheyAreHandled checks that a message counts for the budget as long as its receiver keeps it.
func TestLargeMessagesCountUntilTheyAreHandled(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	const total = 8 << 20
	memory := account.New(total)
	p.awaited = make(chan chan struct{}, 1)
	p.link.limits.MaxMessage, p.link.limits.Memory = 4<<20, account.Purse{Budget: memory}
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

// TestClientsThatDoNotRead checks that what waits for the clients of one principal leaves memory for those of another, and that a link which ends gives it back.
func TestClientsThatDoNotRead(t *testing.T) {
	g := gomega.NewWithT(t)
	memory := account.New(30 << 20)
	waits := func(payer string) (l *Link, bytes int) {
		l = NewLink(Limits{Memory: account.Purse{Budget: memory, Payer: payer}})
		for l.Send(link.Event{Text: make([]byte, 64<<10)}, nil) == nil {
			bytes += 64 << 10
		}
		return l, bytes
	}
	var of []*Link
	for _, bytes := range []int{16 << 20, 1 << 20, 1 << 20} { // one has all that is left of its share; the others have their own
		l, n := waits("tenant")
		g.Expect(n).To(gomega.BeNumerically("~", bytes, 64<<10))
		of = append(of, l)
	}
	_, another := waits("another")
	g.Expect(another).To(gomega.BeNumerically("~", 1<<20+(30-15)<<20/2, 64<<10))
	for _, l := range of {
		l.Cut()
	}
	_, after := waits("another")
	g.Expect(after).To(gomega.BeNumerically(">", 2<<20))
}
