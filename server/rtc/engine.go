package rtc

import (
	"errors"
	"fmt"
	"sync"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/call"
)

// opusFormat are the format parameters that we offer and answer with: redundancy against loss, and no packets
// while the caller is silent.
const opusFormat = "minptime=10;useinbandfec=1;usedtx=1"

// Engine makes calls. It is safe for concurrent use.
type Engine struct {
	cfg Config
	api *webrtc.API
	mux ice.UDPMux // nil without Config.UDPPort

	mu     sync.Mutex
	closed bool
	peers  map[*Peer]struct{}
}

// New prepares an Engine. With Config.UDPPort it opens that port on every address that this machine has now.
func New(cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, peers: map[*Peer]struct{}{}}
	settings := e.settings()
	if cfg.UDPPort != 0 {
		if e.mux, err = e.openMux(); err != nil {
			return nil, fmt.Errorf("rtc: UDP port %d: %w (is another server running on it?)", cfg.UDPPort, err)
		}
		settings.SetICEUDPMux(e.mux)
	}
	media, registry, err := opusOnly(loggers{cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.api = webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry),
		webrtc.WithSettingEngine(settings))
	return e, nil
}

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
	return errors.Join(errs...)
}

// settings are pion's knobs.
//
// Names of the .local kind, which browsers put in place of their addresses, are not looked up: that takes
// a multicast socket a call, and the browser's own checks reach us first and show its address.
func (e *Engine) settings() webrtc.SettingEngine {
	s := webrtc.SettingEngine{LoggerFactory: loggers{e.cfg.Logger}}
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	s.DisableActiveTCP(true)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetIncludeLoopbackCandidate(e.cfg.Loopback)
	s.SetICETimeouts(e.cfg.Disconnected, e.cfg.Failed, e.cfg.KeepAlive)
	s.DetachDataChannels()
	s.SetSCTPMaxMessageSize(uint32(e.cfg.MaxMessage))
	// A message that is too large must get in whole to be told from one that is still coming.
	s.SetSCTPMaxReceiveBufferSize(uint32(max(2<<20, 2*e.cfg.MaxMessage)))
	return s
}

func (e *Engine) openMux() (ice.UDPMux, error) {
	opts := []ice.UDPMuxFromPortOption{
		ice.UDPMuxFromPortWithLogger(loggers{e.cfg.Logger}.NewLogger("mux")),
		// All calls share the socket: room for 100 calls' packets over 100 ms of a busy processor.
		ice.UDPMuxFromPortWithReadBufferSize(1 << 20),
		ice.UDPMuxFromPortWithWriteBufferSize(1 << 20),
	}
	if e.cfg.Loopback {
		opts = append(opts, ice.UDPMuxFromPortWithLoopback())
	}
	mux, err := ice.NewMultiUDPMuxFromPort(e.cfg.UDPPort, opts...)
	if err != nil {
		return nil, err
	}
	return mux, nil
}

// opusOnly is the media side: Opus and nothing else; reports, so that clients can measure loss and
// round trip; retransmission for clients that ask for it. We ask for none: it would come after the reordering
// has given up. Congestion feedback (TWCC) is left out too: a voice has one bit rate, and the feedback would
// be ten packets a second for nothing.
func opusOnly(log loggers) (*webrtc.MediaEngine, *interceptor.Registry, error) {
	media, registry := &webrtc.MediaEngine{}, &interceptor.Registry{}
	err := media.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: opusCapability(),
		PayloadType:        111, // what browsers use; the offer's own number is answered anyway
	}, webrtc.RTPCodecTypeAudio)
	if err != nil {
		return nil, nil, fmt.Errorf("rtc: register Opus: %w", err)
	}
	sender, err1 := report.NewSenderInterceptor(report.WithSenderLoggerFactory(log))
	receiver, err2 := report.NewReceiverInterceptor(report.WithReceiverLoggerFactory(log))
	// 128 packets are 2.5 s, beyond which a retransmission comes too late to be heard.
	responder, err3 := nack.NewResponderInterceptor(nack.ResponderSize(128), nack.WithResponderLoggerFactory(log))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, nil, fmt.Errorf("rtc: interceptors: %w", err)
	}
	registry.Add(responder)
	registry.Add(sender)
	registry.Add(receiver)
	return media, registry, nil
}

func opusCapability() webrtc.RTPCodecCapability {
	return webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeOpus, ClockRate: 48_000, Channels: 2, SDPFmtpLine: opusFormat,
		RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}},
	}
}

// add registers a peer, so that Close finds it.
func (e *Engine) add(p *Peer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return call.ErrClosed
	}
	e.peers[p] = struct{}{}
	return nil
}

func (e *Engine) remove(p *Peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.peers, p)
}
