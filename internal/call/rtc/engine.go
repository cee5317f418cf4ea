package rtc

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/transport/v4/stdnet"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/offer"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/pionlog"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// The engine: what all calls share, such as codecs, sockets and pion's settings.

// Engine makes calls. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	log      pionlog.Factory
	system   *stdnet.Net
	setting  webrtc.SettingEngine
	media    *webrtc.MediaEngine
	registry *interceptor.Registry
	encoders *opus.Pool
	mux      ice.UDPMux // nil without Config.UDPPort
	tcp      ice.TCPMux // nil without Config.TCP

	stuck atomic.Uint64 // connections that did not end

	mu     sync.Mutex
	closed bool
	peers  map[*Peer]struct{}
	past   Stats // of the peers that have ended
}

// New returns an Engine. With Config.UDPPort it opens that port on every address that the machine has now.
func New(cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, log: pionlog.New(cfg.Logger), encoders: opus.NewPool(cfg.OpusComplexity, cfg.OpusBitrate), peers: map[*Peer]struct{}{}}
	if err := e.open(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if e.media, e.registry, err = opusOnly(e.log); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// newConnection returns a peer connection for an offer, with the limits of p for its streams and pieces.
func (e *Engine) newConnection(o offer.Offer, p *Peer) (*webrtc.PeerConnection, error) {
	setting := e.setting
	if e.cfg.LoopbackOnly && o.Firefox {
		e.besideLoopback(&setting)
	}
	setting.BufferFactory, setting.LoggerFactory = p.streamBuffer, pieceLog{LoggerFactory: e.log, to: &p.taken.pieces}
	return webrtc.NewAPI(webrtc.WithMediaEngine(e.media), webrtc.WithInterceptorRegistry(e.registry),
		webrtc.WithSettingEngine(setting)).NewPeerConnection(webrtc.Configuration{})
}

// Stuck returns how many connections did not end within their time since the engine began. Their goroutines are left behind.
func (e *Engine) Stuck() uint64 { return e.stuck.Load() }

// Close ends all calls, joins their goroutines and frees the port.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	peers := make([]*Peer, 0, len(e.peers))
	for p := range e.peers {
		peers = append(peers, p)
	}
	e.mu.Unlock()
	for _, p := range peers {
		p.Stop()
	}
	var errs []error
	for _, p := range peers {
		errs = append(errs, p.Close())
	}
	if e.mux != nil {
		errs = append(errs, e.mux.Close())
	}
	if e.tcp != nil {
		errs = append(errs, e.tcp.Close())
	}
	return errors.Join(errs...)
}

// opusOnly returns the media side of the engine: Opus alone; reports, so that clients can measure loss and round trip; and
// retransmission for clients that ask for it. The server asks for no retransmission: a packet would come after the jitter buffer
// has given it up. There is no congestion feedback (TWCC) either: it would cost ten packets a second, and the audio has one
// bit rate.
func opusOnly(log pionlog.Factory) (*webrtc.MediaEngine, *interceptor.Registry, error) {
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	err := media.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: opusCapability(),
		PayloadType:        111, // the number that browsers use; an answer has the number of its offer anyway
	}, webrtc.RTPCodecTypeAudio)
	if err != nil {
		return nil, nil, fmt.Errorf("rtc: register Opus: %w", err)
	}
	sender, err1 := report.NewSenderInterceptor(report.WithSenderLoggerFactory(log))
	receiver, err2 := report.NewReceiverInterceptor(report.WithReceiverLoggerFactory(log))
	// 128 packets are 2.5 s. A later retransmission comes too late to be played.
	responder, err3 := nack.NewResponderInterceptor(nack.ResponderSize(128), nack.WithResponderLoggerFactory(log))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, nil, fmt.Errorf("rtc: interceptors: %w", err)
	}
	registry.Add(responder)
	registry.Add(sender)
	registry.Add(receiver)
	return media, registry, nil
}

// opusCapability returns the codec of the outgoing track.
func opusCapability() webrtc.RTPCodecCapability {
	return webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2, SDPFmtpLine: offer.OpusFormat,
		RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}},
	}
}

// add registers a peer, so that Close finds it.
func (e *Engine) add(p *Peer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return link.ErrClosed
	}
	e.peers[p] = struct{}{}
	return nil
}

func (e *Engine) remove(p *Peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, is := e.peers[p]; is {
		e.past.Add(p.Stats())
	}
	delete(e.peers, p)
}

// remotes says which of a client's addresses the engine checks.
func (e *Engine) remotes() offer.Remotes {
	return offer.Remotes{Loopback: e.cfg.Loopback, Private: e.cfg.PrivateRemotes}
}
