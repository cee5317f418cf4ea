package rtc

// The WebRTC client of these tests, on pion.

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/pionlog"
	"github.com/antiphon-rt/antiphon/internal/hangup"
)

// soon bounds every wait of the tests with real sockets. Only a failing test reaches it.
const soon = 20 * time.Second

// client is a WebRTC client on pion, over the loopback device.
type client struct {
	pc     *webrtc.PeerConnection
	events *webrtc.DataChannel
	voice  *webrtc.TrackLocalStaticRTP
	net    *cuttable
	mux    ice.UDPMux
	seq    uint16
	ts     uint32

	mu       sync.Mutex
	messages []string
	packets  []rtp.Packet
	opened   atomic.Bool
	closed   atomic.Bool // the data channel is closed
}

// clientOptions say how a client differs from a usual one.
type clientOptions struct {
	direction webrtc.RTPTransceiverDirection // the direction of its audio section; sendrecv when zero
	label     string                         // the label of its data channel; "-" for none
	video     bool                           // its offer has a video section before that of the audio
	bundle    webrtc.BundlePolicy            // the bundle policy of its offer
	deaf      bool                           // never reads its data channel
	ssrc      func() uint32                  // the SSRC of each packet that it sends; nil for that of its offer
	offer     func(string) string            // changes the offer before the server gets it
	answer    func(string) string            // changes the answer before the client gets it
}

func newTestEngine(t testing.TB, cfg Config) *Engine {
	t.Helper()
	cfg.Loopback = true
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return e
}

// newClient returns a client that is ready to make an offer.
func newClient(t testing.TB, o clientOptions) *client {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(err)
	c := &client{net: &cuttable{UDPConn: socket}}
	c.mux = ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: c.net, Logger: pionlog.New(discard()).NewLogger("test")})
	settings := webrtc.SettingEngine{LoggerFactory: pionlog.New(discard())}
	settings.SetICEUDPMux(c.mux)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetICETimeouts(time.Minute, time.Minute, 100*time.Millisecond)
	if o.deaf {
		settings.DetachDataChannels()
	}
	media := &webrtc.MediaEngine{}
	must(media.RegisterDefaultCodecs())
	registry := &interceptor.Registry{}
	must(webrtc.RegisterDefaultInterceptors(media, registry))
	if o.ssrc != nil {
		registry.Add(ssrcChanger{next: o.ssrc})
	}
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	c.pc, err = api.NewPeerConnection(webrtc.Configuration{BundlePolicy: o.bundle})
	must(err)
	t.Cleanup(c.close)
	if o.video {
		_, err = c.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{
			Direction: webrtc.RTPTransceiverDirectionRecvonly,
		})
		must(err)
	}
	c.pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { c.hear(track) })
	if o.label != "-" {
		label := o.label
		if label == "" {
			label = "oai-events"
		}
		c.events, err = c.pc.CreateDataChannel(label, nil)
		must(err)
		c.events.OnOpen(func() {
			if o.deaf {
				_, _ = c.events.Detach() // nobody reads the channel
			}
			c.opened.Store(true)
		})
		c.events.OnClose(func() { c.closed.Store(true) })
		c.events.OnMessage(func(m webrtc.DataChannelMessage) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.messages = append(c.messages, string(m.Data))
		})
	}
	must(c.addAudio(o.direction))
	return c
}

// addAudio adds the microphone's track and its transceiver. Direction 0 sends and receives.
func (c *client) addAudio(direction webrtc.RTPTransceiverDirection) (err error) {
	c.voice, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "mic", "caller")
	if err != nil {
		return err
	}
	if direction == webrtc.RTPTransceiverDirectionRecvonly {
		_, err = c.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio, webrtc.RTPTransceiverInit{Direction: direction})
		return err
	}
	if direction == 0 {
		direction = webrtc.RTPTransceiverDirectionSendrecv
	}
	_, err = c.pc.AddTransceiverFromTrack(c.voice, webrtc.RTPTransceiverInit{Direction: direction})
	return err
}

// offer returns the client's offer, with its addresses.
func (c *client) offer(t testing.TB) string {
	t.Helper()
	offer, err := c.pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	return c.pc.LocalDescription().SDP
}

// dial lets a new client call the engine.
func dial(t testing.TB, e *Engine, h link.Handler, o clientOptions) (*client, *Peer) {
	t.Helper()
	c := newClient(t, o)
	offer := c.offer(t)
	if o.offer != nil {
		offer = o.offer(offer)
	}
	p, answer, err := e.Answer(context.Background(), offer, nil, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() }) // the engine's Close reports errors
	if o.answer != nil {
		answer = o.answer(answer)
	}
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatalf("%v in\n%s", err, answer)
	}
	return c, p
}

// hear keeps every packet of the agent's audio.
func (c *client) hear(track *webrtc.TrackRemote) {
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		c.mu.Lock()
		c.packets = append(c.packets, *p)
		c.mu.Unlock()
	}
}

// say sends packets of the client's audio at once.
func (c *client) say(t testing.TB, packets [][]byte) {
	t.Helper()
	for _, payload := range packets {
		c.seq++
		c.ts += frameTicks
		h := rtp.Header{Version: 2, SequenceNumber: c.seq, Timestamp: c.ts}
		if err := c.voice.WriteRTP(&rtp.Packet{Header: h, Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *client) got() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

func (c *client) heard() []rtp.Packet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.packets)
}

func (c *client) close() {
	_ = hangup.Close(c.pc) // the client's end is not under test
	_ = c.mux.Close()
	_ = c.net.Close()
}

// connected waits until the Handler was told that events flow.
func connected(g gomega.Gomega, r *recorder) {
	g.Eventually(func() int { r.mu.Lock(); defer r.mu.Unlock(); return r.opened }, soon).Should(gomega.Equal(1))
}

// cuttable is a socket that can lose its network, or have a bad one.
type cuttable struct {
	*net.UDPConn
	cut atomic.Bool
	bad atomic.Bool // every 50th packet that it sends is lost, and every 20th comes after the next one

	mu   sync.Mutex
	sent int
	late []byte
}

func (c *cuttable) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, addr, err := c.UDPConn.ReadFrom(b)
		if err != nil || !c.cut.Load() {
			return n, addr, err
		}
	}
}

func (c *cuttable) WriteTo(b []byte, addr net.Addr) (int, error) {
	if c.cut.Load() {
		return len(b), nil
	}
	if !c.bad.Load() {
		return c.UDPConn.WriteTo(b, addr)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	if c.sent%50 == 0 {
		return len(b), nil
	}
	if c.sent%20 == 1 {
		c.late = slices.Clone(b)
		return len(b), nil
	}
	if n, err := c.UDPConn.WriteTo(b, addr); c.late == nil || err != nil {
		return n, err
	}
	_, err := c.UDPConn.WriteTo(c.late, addr)
	c.late = nil
	return len(b), err
}

// ssrcChanger is an interceptor that gives each outgoing packet the next SSRC.
type ssrcChanger struct {
	interceptor.NoOp
	next func() uint32
}

func (s ssrcChanger) NewInterceptor(string) (interceptor.Interceptor, error) { return &s, nil }

func (s *ssrcChanger) BindLocalStream(_ *interceptor.StreamInfo, to interceptor.RTPWriter) interceptor.RTPWriter {
	return interceptor.RTPWriterFunc(func(h *rtp.Header, payload []byte, a interceptor.Attributes) (int, error) {
		changed := *h
		changed.SSRC = s.next()
		return to.Write(&changed, payload, a)
	})
}
