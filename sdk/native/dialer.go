//go:build !js

package native

// Options, and the dialer for WebRTC.

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/sdk"
)

// Options say how calls are placed.
type Options struct {
	// URL is the server's, such as "http://localhost:8080".
	URL string
	// Key is sent as a Bearer header. May be empty.
	Key string
	// Client makes the HTTP requests. Nil is http.DefaultClient.
	Client *http.Client
	// Microphone gives the sound of the user. Nil is silence. It must serve one call at a time.
	Microphone Source
	// Speaker takes the sound of the agent. Nil drops it.
	Speaker Sink
	// Detector finds speech of the user while the agent speaks, so that the session can predict interruptions. The peers are then
	// sdk.Duckers (WebRTC) or sdk.Rewinders (WebSocket). It takes about a hundredth of a core for each call.
	Detector bool
	// ICEServers are the STUN and TURN servers of calls over WebRTC. Nil asks the server for its own before each call.
	ICEServers []webrtc.ICEServer
	// Loopback also uses the machine's loopback address (WebRTC only), for a server on the same machine.
	Loopback bool
}

// Dialer places calls over WebRTC. Make it with NewDialer. It implements sdk.Dialer and sdk.PipelineSource and is safe for
// concurrent use; calls that it places at the same time share Microphone and Speaker.
type Dialer struct {
	opts   Options
	server endpoint
	api    *webrtc.API
}

// maxMessage is the size of the largest event that a call accepts, in bytes.
const maxMessage = 1 << 20

// countEvery is how often the peer counts the packets of an Antiphon, which sends one every 20 ms.
const countEvery = 250 * time.Millisecond

// disconnected is how long the network is silent before a connection counts as interrupted, failed how much longer before it counts
// as broken. keepAlive is how often the client checks the connection.
const disconnected, failed, keepAlive = 3 * time.Second, 25 * time.Second, time.Second

// handshakeRetry is how long the DTLS handshake waits for an answer before it sends its packets again; the wait doubles each time.
const handshakeRetry = 200 * time.Millisecond

// sdpType is the content type of descriptions.
const sdpType = "application/sdp"

// NewDialer makes a dialer. Nothing is opened before Dial.
func NewDialer(o Options) (*Dialer, error) {
	var s webrtc.SettingEngine
	s.SetIncludeLoopbackCandidate(o.Loopback)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetNetworkTypes([]webrtc.NetworkType{
		webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6,
	})
	s.SetSCTPMaxMessageSize(maxMessage)
	s.SetICETimeouts(disconnected, failed, keepAlive)
	s.SetDTLSRetransmissionInterval(handshakeRetry)
	media := &webrtc.MediaEngine{}
	if err := media.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: opusCapability(), PayloadType: 111,
	}, webrtc.RTPCodecTypeAudio); err != nil {
		return nil, &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}
	}
	return &Dialer{
		opts: o, server: newEndpoint(o.URL, o.Key, o.Client),
		// No interceptors: a client on a good network needs no retransmission, and load tests need many clients.
		api: webrtc.NewAPI(webrtc.WithSettingEngine(s), webrtc.WithMediaEngine(media)),
	}, nil
}

// opusCapability returns the description of the Opus codec in an offer.
func opusCapability() webrtc.RTPCodecCapability {
	return webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;usedtx=1",
	}
}

// TimeZone implements sdk.TimeZoner. It knows the time zone that the environment variable TZ or the link /etc/localtime names.
func (d *Dialer) TimeZone() string {
	if zone, set := os.LookupEnv("TZ"); set {
		return strings.TrimPrefix(zone, ":")
	}
	target, _ := os.Readlink("/etc/localtime") // a machine without it does not say
	_, zone, _ := strings.Cut(target, "zoneinfo/")
	return zone
}

// Dial implements sdk.Dialer.
func (d *Dialer) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	p, err := newPeer(d, c, d.iceServers(ctx), sink)
	if err != nil {
		return nil, &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}
	}
	if err := d.signal(ctx, p, c); err != nil {
		_ = p.Close() // the first error says more
		return nil, err
	}
	takeMicrophone(c.From)
	p.start(c)
	if d.opts.Detector {
		return duckingPeer{p}, nil
	}
	return p, nil
}

// signal exchanges descriptions. The offer is sent at once, without candidates: the server learns the addresses from the first
// packets.
func (d *Dialer) signal(ctx context.Context, p *peer, c sdk.CallConfig) error {
	offer, err := p.pc.CreateOffer(nil)
	if err == nil {
		err = p.pc.SetLocalDescription(offer)
	}
	if err != nil {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "the call could not be offered", Cause: err}
	}
	path := withModel("/v1/realtime/calls", c.Model)
	answer, header, err := d.server.request(ctx, http.MethodPost, path, sdpType, withResume(http.Header{}, c.Resume), []byte(offer.SDP))
	if err != nil {
		return err
	}
	p.antiphon = header.Get(versionHeader) != ""
	p.location, p.kept = header.Get("Location"), resumption(header, c.Resume)
	return badAnswer(p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)}))
}

// Pipeline implements sdk.PipelineSource.
func (d *Dialer) Pipeline(ctx context.Context) (sdk.Pipeline, error) { return d.server.pipeline(ctx) }
