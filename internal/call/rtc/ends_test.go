package rtc

// The limits and the ends of a WebRTC call.

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

func freePort(t *testing.T) int {
	t.Helper()
	port, err := servertest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// An event over 256 KiB killed a send loop and silenced the turn in LocalAI#10407.
func TestLargeEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{offer: func(sdp string) string {
		return dropLines(sdp, "a=max-message-size") + "a=max-message-size:262144\r\n"
	}})
	connected(g, r)
	fits := bytes.Repeat([]byte("x"), 262_144)
	g.Expect(p.Send(event(fits), nil)).To(gomega.Succeed())
	g.Expect(p.Send(event(append(fits, 'x')), nil)).To(gomega.MatchError(link.ErrTooLarge))
	g.Expect(p.Send(event([]byte("the call goes on")), nil)).To(gomega.Succeed())
	g.Eventually(func() int { return len(c.got()) }, soon).Should(gomega.Equal(2))
	g.Expect(c.got()).To(gomega.Equal([]string{string(fits), "the call goes on"}))

	// In the other direction: the largest message that the answer allows.
	large := strings.Repeat("y", 256<<10)
	g.Expect(c.events.SendText(large)).To(gomega.Succeed())
	g.Expect(c.events.SendText("small")).To(gomega.Succeed())
	g.Eventually(func() []string { r.mu.Lock(); defer r.mu.Unlock(); return r.messages }, soon).
		Should(gomega.Equal([]string{large, "small"}))
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}

func TestClientThatSendsTooMuch(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{answer: func(sdp string) string {
		return strings.Replace(sdp, "a=max-message-size:262144", "a=max-message-size:9999999", 1)
	}})
	connected(g, r)
	g.Expect(c.events.Send(make([]byte, 1_000_000))).To(gomega.Succeed())
	g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrMessageTooLarge))
	r.do(func() { g.Expect(r.messages).To(gomega.BeEmpty()) })
}

func TestClientThatNeverReads(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	_, p := dial(t, newTestEngine(t, Config{MaxQueuedBytes: 1 << 20}), r, clientOptions{deaf: true})
	connected(g, r)
	text := make([]byte, 10_000)
	sent := 0
	var err error
	for ; err == nil && sent < 1000; sent++ {
		before := p.Stats().EventsSent
		if err = p.Send(event(text), nil); err == nil && sent < 200 {
			// Events go out one by one as long as they fit into the client's window.
			g.Eventually(func() bool { return p.Stats().EventsSent > before || sent > 100 }, soon).Should(gomega.BeTrue())
		}
	}
	g.Expect(err).To(gomega.MatchError(link.ErrBackpressure))
	g.Expect(sent*len(text)).To(gomega.BeNumerically("<", 4<<20), "the client's window, SCTP's buffer and the queue")
	g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrBackpressure))
	g.Expect(p.Send(event([]byte("more")), nil)).To(gomega.MatchError(link.ErrBackpressure))
}

// TestClientThatBeginsManyStreams checks that a client cannot take the server's memory with streams without end.
func TestClientThatBeginsManyStreams(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	var ssrc atomic.Uint32
	c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{ssrc: func() uint32 { return ssrc.Add(1) }})
	connected(g, r)
	g.Eventually(func() error {
		c.say(t, [][]byte{opus.SilentPacket()})
		return r.failure()
	}, soon).Should(gomega.MatchError(gomega.ContainSubstring("streams")))
	g.Expect(ssrc.Load()).To(gomega.BeNumerically(">=", maxStreams/2), "each has a stream of reports, too")
}

// The network is cut, restored, and cut for good.
func TestClientLosesItsNetwork(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	// Failed is longer than a busy machine stands still: the call must not fail between "lost" and the return of the network.
	cfg := Config{Disconnected: time.Second, Failed: 4 * time.Second, KeepAlive: 100 * time.Millisecond}
	c, p := dial(t, newTestEngine(t, cfg), r, clientOptions{})
	connected(g, r)
	c.net.cut.Store(true)
	g.Eventually(r.lastState, soon).Should(gomega.Equal("lost"))
	g.Expect(p.Send(event([]byte("while away")), nil)).To(gomega.Succeed())
	c.net.cut.Store(false)
	g.Eventually(r.lastState, soon).Should(gomega.Equal("restored"))
	g.Eventually(c.got, soon).Should(gomega.Equal([]string{"while away"}))
	c.net.cut.Store(true)
	g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrUnreachable))
	r.do(func() { // the Handler gets each loss and each return once
		for i, state := range r.states {
			g.Expect(state).To(gomega.Equal([]string{"lost", "restored"}[i%2]))
		}
	})
}

func TestClientThatHangsUp(t *testing.T) {
	for _, row := range []struct {
		name string
		how  func(c *client) error
	}{
		{"closes the call", func(c *client) error { return c.pc.Close() }},
		{"closes the data channel", func(c *client) error { return c.events.Close() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
			connected(g, r)
			p.output.Begin(1)
			p.output.Write(tone(440, 10*Rate))
			g.Eventually(func() int { return len(r.told()) }, soon).Should(gomega.BeNumerically(">", 3), "in mid-sentence")
			g.Expect(row.how(c)).To(gomega.Succeed())
			g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrHungUp))
			g.Expect(p.Close()).To(gomega.Succeed())
			r.do(func() { g.Expect(r.failures).To(gomega.HaveLen(1)) })
		})
	}
}

// TestCloseClosesTheDataChannelFirst checks that a client whose call ends gets all events, and then sees the data channel closed while
// the connection still stands. A client takes a broken connection for a failure.
func TestCloseClosesTheDataChannelFirst(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{farewell: soon}), r, clientOptions{})
	connected(g, r)
	var state atomic.Value
	c.events.OnClose(func() {
		state.Store(c.pc.ConnectionState())
		c.closed.Store(true)
	})
	var sent []string
	for i := range 200 {
		sent = append(sent, fmt.Sprintf("last event %d", i))
		g.Expect(p.Send(event([]byte(sent[i])), nil)).To(gomega.Succeed())
	}
	began := time.Now()
	g.Expect(p.Close()).To(gomega.Succeed())
	g.Expect(time.Since(began)).To(gomega.BeNumerically("<", soon), "the client has closed the channel, too")
	g.Eventually(c.closed.Load, soon).Should(gomega.BeTrue())
	g.Expect(state.Load()).To(gomega.Equal(webrtc.PeerConnectionStateConnected))
	g.Expect(c.got()).To(gomega.Equal(sent))
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}

func TestCloseFromSeveralGoroutines(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	_, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	p.output.Begin(1)
	p.output.Write(tone(440, Rate))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { _ = p.Close() }) // one of them closes, and all wait
	}
	wg.Wait()
	told := len(r.told())
	g.Consistently(func() int { return len(r.told()) }, 100*time.Millisecond).Should(gomega.Equal(told), "the Handler gets nothing after Close")
	g.Expect(p.Close()).To(gomega.Succeed())
}

// closer closes its own call in Sent.
type closer struct {
	recorder
	peer   chan *Peer
	closed chan error
	once   sync.Once
}

func (c *closer) Sent(uint64, voice.Samples, bool) {
	c.once.Do(func() { c.closed <- (<-c.peer).Close() })
}

func TestCloseFromWithinAHandler(t *testing.T) {
	g := gomega.NewWithT(t)
	h := &closer{peer: make(chan *Peer, 1), closed: make(chan error, 1)}
	_, p := dial(t, newTestEngine(t, Config{}), h, clientOptions{})
	h.peer <- p
	p.output.Begin(1)
	p.output.Write(tone(440, Rate))
	g.Eventually(h.closed, soon).Should(gomega.Receive(gomega.Not(gomega.HaveOccurred())))
	g.Expect(p.Close()).To(gomega.Succeed(), "outside of the Handler, Close waits for the end")
	select {
	case <-p.done:
	default:
		t.Error("Close has returned before the end")
	}
}

func TestCloseBeforeTheClientConnects(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	offer := newClient(t, clientOptions{}).offer(t)
	p, _, err := newTestEngine(t, Config{}).Answer(context.Background(), offer, nil, r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Close()).To(gomega.Succeed())
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}

func TestEngineCloseEndsAllCalls(t *testing.T) {
	g := gomega.NewWithT(t)
	e := newTestEngine(t, Config{})
	var peers []*Peer
	for range 3 {
		r := &recorder{}
		_, p := dial(t, e, r, clientOptions{})
		connected(g, r)
		peers = append(peers, p)
	}
	g.Expect(e.Close()).To(gomega.Succeed())
	for _, p := range peers {
		<-p.done
	}
	g.Expect(len(e.peers)).To(gomega.BeZero())
}

func TestConfig(t *testing.T) {
	for _, row := range []struct {
		name string
		cfg  Config
		says string
	}{
		{"port", Config{UDPPort: 70_000}, "65535"},
		{"complexity", Config{OpusComplexity: 11}, "1 to 10"},
		{"bitrate", Config{OpusBitrate: 5}, "128000"},
		{"message", Config{MaxMessage: 5}, "1024"},
		{"queue", Config{MaxQueuedEvents: -1}, "queue limit"},
		{"time", Config{Failed: -1}, "time limit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := New(row.cfg)
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
}
