package rtc

// ICE restarts, and a call that continues over another connection.

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// again returns an offer that restarts the client's call.
func (c *client) again(t testing.TB) string {
	t.Helper()
	offer, err := c.pc.CreateOffer(&webrtc.OfferOptions{ICERestart: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	return offer.SDP
}

// restart lets the client restart its call.
func (c *client) restart(t testing.TB, p *Peer) {
	t.Helper()
	c.restartWith(t, p, c.again(t))
}

func (c *client) restartWith(t testing.TB, p *Peer, offer string) {
	t.Helper()
	answer, err := p.Restart(t.Context(), offer)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatalf("%v in\n%s", err, answer)
	}
}

// TestRestart checks that a client which lost its network path gets another one, and that no event is lost meanwhile.
func TestRestart(t *testing.T) {
	for _, row := range []struct {
		name string
		cfg  Config
	}{
		{"each call has ports of its own", Config{}},
		{"one port for all calls", Config{UDPPort: freePort(t)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			row.cfg.Disconnected, row.cfg.Failed, row.cfg.KeepAlive = time.Second, time.Minute, 100*time.Millisecond
			c, p := dial(t, newTestEngine(t, row.cfg), r, clientOptions{})
			connected(g, r)
			c.net.cut.Store(true)
			g.Eventually(r.lastState, soon).Should(gomega.Equal("lost"))
			g.Expect(p.Send(event([]byte("while away")), nil)).To(gomega.Succeed())
			g.Expect(c.events.SendText("still here")).To(gomega.Succeed())
			c.net.cut.Store(false)
			c.restart(t, p)
			g.Eventually(r.lastState, soon).Should(gomega.Equal("restored"))
			g.Eventually(c.got, soon).Should(gomega.Equal([]string{"while away"}))
			g.Eventually(func() []string { r.mu.Lock(); defer r.mu.Unlock(); return r.messages }, soon).Should(gomega.Equal([]string{"still here"}))

			before := len(c.heard())
			g.Eventually(func() int { return len(c.heard()) }, soon).Should(gomega.BeNumerically(">", before+5), "the agent is heard again")
			received := p.Stats().PacketsReceived
			c.say(t, [][]byte{opus.SilentPacket(), opus.SilentPacket(), opus.SilentPacket(), opus.SilentPacket(), opus.SilentPacket()})
			g.Eventually(func() uint64 { return p.Stats().PacketsReceived }, soon).Should(gomega.BeNumerically(">", received), "and the user's audio comes")

			c.restart(t, p) // the call has not lost its path
			g.Expect(p.Send(event([]byte("and again")), nil)).To(gomega.Succeed())
			g.Eventually(c.got, soon).Should(gomega.Equal([]string{"while away", "and again"}))
			g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
		})
	}
}

// TestReconnect checks that a call over another connection continues its audio where it was.
func TestReconnect(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	e := newTestEngine(t, Config{farewell: soon})
	c, p := dial(t, e, r, clientOptions{})
	connected(g, r)
	voice := p.output
	voice.Begin(1)
	voice.Write(tone(440, 50*FrameSize))
	voice.End()
	g.Eventually(func() int { return len(r.told()) }, soon).Should(gomega.BeNumerically(">", 5))
	voice.Hold()
	frames := func() (n int) {
		for _, h := range r.told() {
			if !h.end {
				n++
			}
		}
		return n
	}
	// The frame that was being sent at the hold is told, too: a peer that is abandoned tells nothing more.
	g.Eventually(func() bool { return int(voice.Sent()) == frames()*FrameSize }, soon).Should(gomega.BeTrue())
	c.net.cut.Store(true)
	began := time.Now()
	g.Expect(p.Abandon()).To(gomega.BeEmpty())
	g.Expect(time.Since(began)).To(gomega.BeNumerically("<", soon), "Abandon does not wait for the client")
	held := voice.Sent()

	next := newClient(t, clientOptions{})
	again, answer, err := e.Reconnect(t.Context(), next.offer(t), nil, r, p)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = again.Close() })
	g.Expect(next.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})).To(gomega.Succeed())
	g.Eventually(func() int { r.mu.Lock(); defer r.mu.Unlock(); return r.opened }, soon).Should(gomega.Equal(2))
	g.Expect(again.output).To(gomega.BeIdenticalTo(voice))
	voice.Resume(1, held)
	g.Eventually(r.drains, soon).Should(gomega.Equal([]uint64{1}))
	g.Expect(frames()).To(gomega.Equal(50), "each frame once")
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}

func TestBadRestarts(t *testing.T) {
	r := &recorder{}
	e := newTestEngine(t, Config{})
	c, p := dial(t, e, r, clientOptions{})
	connected(gomega.NewWithT(t), r)
	good := c.again(t)
	for _, row := range []struct {
		name, offer string
		want        error
		says        string
	}{
		{"nothing", "", ErrBadSDP, "empty"},
		{"garbage", "hello", ErrBadSDP, "unchanged"},
		{"the offer of another client", newClient(t, clientOptions{}).offer(t), ErrBadSDP, "another peer connection"},
		{"the call's own offer once more", p.offer.Desc.SDP, ErrBadSDP, "iceRestart"},
		{"one section less", good[:strings.Index(good, "m=application")], ErrBadSDP, "other sections"},
		{"sections of other names", strings.ReplaceAll(good, "a=mid:0", "a=mid:9"), ErrBadSDP, "mid"},
		{"no audio any more", strings.Replace(good, "a=sendrecv", "a=inactive", 1), ErrNoAudio, "inactive"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := p.Restart(t.Context(), row.offer)
			g.Expect(err).To(gomega.MatchError(row.want))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
	g := gomega.NewWithT(t)
	c.restartWith(t, p, good)
	g.Expect(p.Send(event([]byte("none the worse")), nil)).To(gomega.Succeed())
	g.Eventually(c.got, soon).Should(gomega.Equal([]string{"none the worse"}))
	g.Expect(p.Close()).To(gomega.Succeed())
	_, err := p.Restart(t.Context(), good)
	g.Expect(err).To(gomega.MatchError(link.ErrClosed))
}
