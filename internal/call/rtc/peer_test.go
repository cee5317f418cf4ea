package rtc

// Whole WebRTC calls with a real client.

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestCallCarriesEventsInOrder(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c := newClient(t, clientOptions{})
	p, answer, err := newTestEngine(t, Config{}).Answer(context.Background(), c.offer(t), nil, r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var want []string
	for i := range 100 { // all before the client has seen the answer
		want = append(want, fmt.Sprintf(`{"type":"early","n":%d}`, i))
		g.Expect(p.Send(event([]byte(want[i])), nil)).To(gomega.Succeed())
	}
	g.Expect(c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})).To(gomega.Succeed())
	connected(g, r)
	want = append(want, "late")
	g.Expect(p.Send(event([]byte("late")), nil)).To(gomega.Succeed())
	g.Eventually(c.got, soon).Should(gomega.Equal(want))

	g.Expect(c.events.SendText("text")).To(gomega.Succeed())
	g.Expect(c.events.Send([]byte{1, 2, 3})).To(gomega.Succeed())
	g.Expect(c.events.SendText("")).To(gomega.Succeed())
	g.Eventually(func() []string { r.mu.Lock(); defer r.mu.Unlock(); return r.messages }, soon).Should(gomega.Equal([]string{"text", ""}))
	r.do(func() { g.Expect(r.binary).To(gomega.Equal([]string{"\x01\x02\x03"})) })
	g.Expect(p.Stats().EventsSent).To(gomega.Equal(uint64(101)))
	g.Expect(p.Stats().EventsReceived).To(gomega.Equal(uint64(3)))
	g.Expect(p.Close()).To(gomega.Succeed())
	g.Expect(p.Send(event([]byte("after")), nil)).To(gomega.MatchError(link.ErrClosed))
}

func TestCallCarriesTheAgentsAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	p.output.Begin(7)
	p.output.Write(tone(440, Rate))
	p.output.End()
	g.Eventually(r.drains, soon).Should(gomega.Equal([]uint64{7}))
	after := len(c.heard()) + 10
	g.Eventually(func() int { return len(c.heard()) }, soon).Should(gomega.BeNumerically(">", after))

	var payloads [][]byte
	packets := c.heard()
	coded := 0
	for i, packet := range packets {
		if i > 0 {
			g.Expect(packet.SequenceNumber-packets[i-1].SequenceNumber).To(gomega.Equal(uint16(1)), "loopback loses nothing")
			steps := packet.Timestamp - packets[i-1].Timestamp
			g.Expect(steps%frameTicks).To(gomega.BeZero(), "packet %d", i)
		}
		if !bytes.Equal(packet.Payload, opus.SilentPacket()) {
			coded++
		}
		payloads = append(payloads, packet.Payload)
	}
	g.Expect(coded).To(gomega.Equal(51), "one second, and the codec's tail")
	pcm := decode(t, newTestDecoder(t), payloads)
	var energy float64
	for _, v := range pcm {
		energy += float64(v) * float64(v) / 32768 / 32768
	}
	g.Expect(energy/Rate).To(gomega.BeNumerically("~", 0.125, 0.01), "one second of a sine at half of full scale")
	g.Expect(rms(pcm[len(pcm)-5*FrameSize:])).To(gomega.BeZero(), "then silence")
	g.Expect(p.output.Sent()).To(gomega.Equal(voice.Samples(Rate)))
}

func TestCallCarriesTheClientsAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	packets := code(t, newTestEncoder(t), tone(440, Rate))
	packets = append(packets, nil)
	copy(packets[11:], packets[10:50]) // one packet is sent empty: padding
	packets[10] = []byte{}
	c.say(t, packets)
	g.Eventually(func() int { r.mu.Lock(); defer r.mu.Unlock(); return len(r.audio) }, soon).
		Should(gomega.BeNumerically(">=", Rate))
	r.do(func() {
		g.Expect(rms(r.audio[Rate/2 : Rate])).To(gomega.BeNumerically("~", 0.3536, 0.03))
		g.Expect(purity(r.audio[Rate/2:Rate], 440)).To(gomega.BeNumerically(">", 0.98))
	})
	g.Expect(p.Stats().PacketsReceived).To(gomega.Equal(uint64(51)))
}

// Two calls at once share one address and one port, and each has its own events and audio. LocalAI#11375: random UDP ports do not work
// behind a firewall.
func TestCallsShareOnePort(t *testing.T) {
	g := gomega.NewWithT(t)
	port := freePort(t)
	e := newTestEngine(t, Config{UDPPort: port})
	var clients []*client
	var peers []*Peer
	for i := range 2 {
		r := &recorder{}
		c, p := dial(t, e, r, clientOptions{answer: func(sdp string) string {
			g.Expect(sdp).To(gomega.ContainSubstring(fmt.Sprintf(" 127.0.0.1 %d typ host", port)))
			return sdp
		}})
		connected(g, r)
		g.Expect(p.Send(event([]byte(fmt.Sprint("for ", i))), nil)).To(gomega.Succeed())
		clients, peers = append(clients, c), append(peers, p)
	}
	peers[1].output.Begin(1)
	peers[1].output.Write(tone(440, 10*FrameSize))
	for i, c := range clients {
		g.Eventually(c.got, soon).Should(gomega.Equal([]string{fmt.Sprint("for ", i)}))
		g.Eventually(func() int { return len(c.heard()) }, soon).Should(gomega.BeNumerically(">", 20))
	}
	spoken := func(c *client) (n int) {
		for _, p := range c.heard() {
			if !bytes.Equal(p.Payload, opus.SilentPacket()) {
				n++
			}
		}
		return n
	}
	g.Eventually(func() int { return spoken(clients[1]) }, soon).Should(gomega.Equal(11))
	g.Expect(spoken(clients[0])).To(gomega.BeZero())

	_, err := New(Config{UDPPort: port, Loopback: true})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("another server")))
}

// A server that listens on loopback has no socket that another machine reaches.
func TestLoopbackOnly(t *testing.T) {
	for name, cfg := range map[string]Config{"ports of each call": {LoopbackOnly: true}, "one port": {LoopbackOnly: true, UDPPort: freePort(t)}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			dial(t, newTestEngine(t, cfg), r, clientOptions{answer: func(sdp string) string {
				addresses := regexp.MustCompile(`a=candidate:\S+ \d udp \d+ (\S+) `).FindAllStringSubmatch(sdp, -1)
				g.Expect(addresses).NotTo(gomega.BeEmpty(), sdp)
				for _, a := range addresses {
					g.Expect(net.ParseIP(a[1]).IsLoopback()).To(gomega.BeTrue(), a[1])
				}
				return sdp
			}})
			connected(g, r)
		})
	}
}

// Firefox never connects to a loopback address. On a server for this machine its calls have sockets on all addresses.
func TestLoopbackOnlyForFirefox(t *testing.T) {
	own, err := net.InterfaceAddrs()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	var want []string
	for _, a := range own {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLinkLocalUnicast() && !ip.IsLoopback() {
			want = append(want, ip.String())
		}
	}
	for name, cfg := range map[string]Config{"ports of each call": {LoopbackOnly: true}, "one port": {LoopbackOnly: true, UDPPort: freePort(t)}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			dial(t, newTestEngine(t, cfg), r, clientOptions{
				offer: func(sdp string) string { return strings.Replace(sdp, "o=- ", "o=mozilla...THIS_IS_SDPARTA-99.0 ", 1) },
				answer: func(sdp string) string {
					var got []string
					for _, a := range regexp.MustCompile(`a=candidate:\S+ 1 udp \d+ (\S+) `).FindAllStringSubmatch(sdp, -1) {
						got = append(got, net.ParseIP(a[1]).String())
					}
					g.Expect(got).To(gomega.ContainElements(want), sdp)
					return sdp
				},
			})
			connected(g, r)
		})
	}
}

// TestAnswersHaveAnAddress checks that the answers to an offer and to a restart have an address of the server, also if the server needs longer
// than usual to find one.
func TestAnswersHaveAnAddress(t *testing.T) {
	for name, cfg := range map[string]Config{"ports of each call": {}, "one port": {UDPPort: freePort(t)}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			cfg.Gather = time.Nanosecond
			c, p := dial(t, newTestEngine(t, cfg), r, clientOptions{answer: func(sdp string) string {
				g.Expect(sdp).To(gomega.ContainSubstring("a=candidate:"))
				return sdp
			}})
			connected(g, r)
			answer, err := p.Restart(t.Context(), c.again(t))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(answer).To(gomega.ContainSubstring("a=candidate:"))
		})
	}
}

func TestCallDirections(t *testing.T) {
	for _, row := range []struct {
		offer webrtc.RTPTransceiverDirection
		want  string
	}{
		{webrtc.RTPTransceiverDirectionSendrecv, "sendrecv"},
		{webrtc.RTPTransceiverDirectionSendonly, "recvonly"},
		{webrtc.RTPTransceiverDirectionRecvonly, "sendonly"},
	} {
		t.Run(row.offer.String()+"->"+row.want, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := &recorder{}
			var answer string
			c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{
				direction: row.offer, answer: func(sdp string) string { answer = sdp; return sdp },
			})
			g.Expect(answer).To(gomega.ContainSubstring("a=" + row.want + "\r\n"))
			connected(g, r)
			if row.offer != webrtc.RTPTransceiverDirectionSendonly {
				g.Eventually(func() int { return len(c.heard()) }, soon).Should(gomega.BeNumerically(">", 2))
			}
			if row.offer != webrtc.RTPTransceiverDirectionRecvonly {
				c.say(t, code(t, newTestEncoder(t), tone(440, 10*FrameSize)))
				g.Eventually(func() uint64 { return p.Stats().PacketsReceived }, soon).Should(gomega.Equal(uint64(10)))
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	var answer string
	r := &recorder{}
	dial(t, newTestEngine(t, Config{MaxMessage: 100_000}), r, clientOptions{
		offer: func(sdp string) string { // with a camera and a request for retransmissions, and without parameters for Opus
			sdp = strings.Replace(sdp, "a=fmtp:111 minptime=10;useinbandfec=1\r\n", "a=rtcp-fb:111 nack\r\n", 1)
			return sdp + strings.Join([]string{
				"m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:7", "a=sendrecv",
				"a=rtcp-mux", "a=rtpmap:96 VP8/90000", "",
			}, "\r\n")
		},
		answer: func(sdp string) string {
			answer = sdp
			i := strings.Index(sdp, "m=video")
			return sdp[:i] // the client did not offer it
		},
	})
	connected(g, r)
	for _, want := range []string{
		"a=fmtp:111 minptime=10;useinbandfec=1;usedtx=1\r\n",
		"a=rtcp-fb:111 nack\r\n",
		"a=max-message-size:100000\r\n",
		" 127.0.0.1 ",
		"a=end-of-candidates\r\n",
		"m=video 0 ",
	} {
		g.Expect(answer).To(gomega.ContainSubstring(want))
	}
	g.Expect(answer).NotTo(gomega.ContainSubstring("PCMU"))
	g.Expect(answer).NotTo(gomega.ContainSubstring(".local"))
}

func TestCallWithoutDataChannel(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	_, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{label: "-"})
	connected(g, r) // when the media connects
	g.Expect(p.Send(event([]byte("to nobody")), nil)).To(gomega.Succeed())
	g.Expect(p.Stats().EventsDropped).To(gomega.Equal(uint64(1)))
}

// TestCallTakesTheFirstDataChannel checks that events flow on the first channel, whatever its label is, and that a second one is closed.
func TestCallTakesTheFirstDataChannel(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{label: "something"})
	connected(g, r)
	second, err := c.pc.CreateDataChannel("oai-events", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	closed := make(chan struct{})
	second.OnClose(func() { close(closed) })
	g.Eventually(closed, soon).Should(gomega.BeClosed())
	g.Expect(p.Send(event([]byte("hello")), nil)).To(gomega.Succeed())
	g.Eventually(c.got, soon).Should(gomega.Equal([]string{"hello"}))
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}

// TestCallHearsANewStream checks that a client is heard that sends its audio with another SSRC in mid-call.
func TestCallHearsANewStream(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	var ssrc atomic.Uint32
	ssrc.Store(1)
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{ssrc: ssrc.Load})
	connected(g, r)
	for i := range uint32(3) {
		ssrc.Store(1 + i)
		c.say(t, code(t, newTestEncoder(t), tone(440, 10*FrameSize)))
		g.Eventually(func() uint64 { return p.Stats().PacketsReceived }, soon).Should(gomega.Equal(uint64(10 * (1 + i))))
	}
	heard := func() (n int) { r.do(func() { n = len(r.audio) }); return n }
	g.Eventually(heard, soon).Should(gomega.BeNumerically(">=", 30*FrameSize))
}

// TestCallHearsAFormerStream checks that a client is heard that returns to an SSRC that it has sent before.
func TestCallHearsAFormerStream(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	var ssrc atomic.Uint32
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{ssrc: ssrc.Load})
	connected(g, r)
	for _, stream := range []uint32{1, 2, 1, 2, 1} {
		ssrc.Store(stream)
		before := p.Stats().PacketsReceived
		g.Eventually(func() uint64 {
			c.say(t, code(t, newTestEncoder(t), tone(440, FrameSize)))
			return p.Stats().PacketsReceived
		}, soon).Should(gomega.BeNumerically(">", before+3), "stream %d", stream)
	}
}

func TestAnswerIsRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	e := newTestEngine(t, Config{})
	offer := newClient(t, clientOptions{}).offer(t)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := e.Answer(canceled, offer, nil, &recorder{})
	g.Expect(err).To(gomega.MatchError(context.Canceled))
	g.Expect(e.Close()).To(gomega.Succeed())
	_, _, err = e.Answer(context.Background(), offer, nil, &recorder{})
	g.Expect(err).To(gomega.MatchError(link.ErrClosed))
}

func TestClientThatNeverConnects(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	offer := newClient(t, clientOptions{}).offer(t)
	_, _, err := newTestEngine(t, Config{Connect: 50 * time.Millisecond}).Answer(context.Background(), offer, nil, r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(r.failure, soon).Should(gomega.MatchError(link.ErrUnreachable))
	g.Expect(r.failure()).To(gomega.MatchError(gomega.ContainSubstring("UDP must get through")))
}

// TestClientThatOpensManyChannels checks that a client may open some data channels that are closed at once, and not without limit.
func TestClientThatOpensManyChannels(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	var closed atomic.Int32
	for range maxChannels - 1 {
		d, err := c.pc.CreateDataChannel("another", nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		d.OnClose(func() { closed.Add(1) })
	}
	g.Eventually(closed.Load, soon).Should(gomega.Equal(int32(maxChannels - 1)))
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
	_, err := c.pc.CreateDataChannel("one too many", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(r.failure, soon).Should(gomega.MatchError(gomega.ContainSubstring("more than 64 data channels")))
}

// TestChannelThatCannotBeOpened checks that a client is not left without answers whose request for a data channel pion cannot read: pion
// takes no further channel then.
func TestChannelThatCannotBeOpened(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, _ := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	_, err := c.pc.CreateDataChannel(strings.Repeat("a long label ", 1000), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(r.failure, soon).Should(gomega.MatchError(gomega.ContainSubstring("a data channel cannot be opened")))
}
