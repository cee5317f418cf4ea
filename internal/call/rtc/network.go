package rtc

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/transport/v4/stdnet"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/limited"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/shared"
)

// The network side of the engine: pion's settings, the UDP port and the TCP port of all calls, and the addresses of answers.

const (
	// tcpReadPackets is how many packets of one client over TCP wait to be read, and tcpWriteBytes how much of the agent's audio and of
	// events waits to be sent: some seconds of audio. What comes beyond that is dropped.
	tcpReadPackets, tcpWriteBytes = 64, 64 << 10
	// handshakeRetry is how long the DTLS handshake waits for an answer before it sends its packets again; the wait doubles each time. pion's 1 s gives
	// four tries before a client gives up; libwebrtc begins with 50 ms.
	handshakeRetry = 200 * time.Millisecond
	// tcpFirst is how long a connection over TCP may take to name its call.
	tcpFirst = 10 * time.Second
	// tcpConnections is how many connections over TCP there are at most at a time, and tcpEach how many of one client address. A client
	// makes one for each address of the server.
	tcpConnections, tcpEach = 1024, 128
)

// open makes pion's settings and opens the ports.
func (e *Engine) open() (err error) {
	e.setting = e.settings()
	if e.system, err = stdnet.NewNet(); err != nil {
		return fmt.Errorf("rtc: the addresses of this machine: %w", err)
	}
	if e.cfg.UDPPort != 0 {
		if e.mux, err = e.openMux(); err != nil {
			return fmt.Errorf("rtc: UDP port %d: %w (is another server running on it?)", e.cfg.UDPPort, err)
		}
		e.setting.SetICEUDPMux(e.mux)
	}
	if e.cfg.TCP != nil {
		e.tcp = ice.NewTCPMuxDefault(ice.TCPMuxParams{
			Listener: limited.New(e.cfg.TCP, tcpConnections, tcpEach), Logger: e.log.NewLogger("tcp"), ReadBufferSize: tcpReadPackets,
			WriteBufferSize: tcpWriteBytes, FirstStunBindTimeout: tcpFirst, AliveDurationForConnFromStun: tcpFirst,
		})
		e.setting.SetICETCPMux(e.tcp)
	}
	return e.publish()
}

// publish adds the public addresses to those of the answers.
func (e *Engine) publish() error {
	var rules []webrtc.ICEAddressRewriteRule
	for _, v4 := range []bool{true, false} {
		external := slices.DeleteFunc(slices.Clone(e.cfg.PublicAddresses), func(a netip.Addr) bool { return a.Is4() != v4 })
		if len(external) == 0 {
			continue
		}
		rule := webrtc.ICEAddressRewriteRule{AsCandidateType: webrtc.ICECandidateTypeHost, Mode: webrtc.ICEAddressRewriteAppend}
		for _, a := range external {
			rule.External = append(rule.External, a.String())
		}
		rules = append(rules, rule)
	}
	if err := e.setting.SetICEAddressRewriteRules(rules...); err != nil {
		return fmt.Errorf("rtc: public addresses: %w", err)
	}
	return nil
}

// IsMedia reports whether the server receives the audio of calls over UDP at an address: a relay sends packets nowhere else.
func (e *Engine) IsMedia(a netip.AddrPort) bool {
	if e.cfg.UDPPort != 0 && int(a.Port()) != e.cfg.UDPPort {
		return false
	}
	return slices.Contains(e.Local(), a.Addr().Unmap())
}

// settings returns pion's settings.
//
// pion does not look up .local names, which browsers put in place of their addresses: that takes one multicast socket for each
// call, and the browser's own connectivity checks reach the server first and show the address.
func (e *Engine) settings() webrtc.SettingEngine {
	s := webrtc.SettingEngine{LoggerFactory: e.log}
	networks := []webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6}
	if e.cfg.TCP != nil {
		networks = append(networks, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6)
	}
	s.SetNetworkTypes(networks)
	s.DisableActiveTCP(true)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetIncludeLoopbackCandidate(e.cfg.Loopback)
	s.SetIPFilter(e.serves)
	s.SetICETimeouts(e.cfg.Disconnected, e.cfg.Failed, e.cfg.KeepAlive)
	s.DetachDataChannels()
	s.SetDTLSRetransmissionInterval(handshakeRetry)
	s.SetSCTPMaxMessageSize(uint32(e.cfg.MaxMessage))
	// A message that is too large must arrive whole; otherwise it looks like one that is still arriving.
	s.SetSCTPMaxReceiveBufferSize(uint32(max(2<<20, 2*e.cfg.MaxMessage)))
	return s
}

// besideLoopback changes the settings of a call: it has sockets of its own on all addresses of this machine. They drop the packets of other machines.
func (e *Engine) besideLoopback(s *webrtc.SettingEngine) {
	s.SetICEUDPMux(nil)
	s.SetNet(shared.Local{Net: e.system})
	s.SetIPFilter(func(a net.IP) bool { return !a.IsLinkLocalUnicast() })
}

func (e *Engine) openMux() (ice.UDPMux, error) {
	opts := []ice.UDPMuxFromPortOption{
		ice.UDPMuxFromPortWithLogger(e.log.NewLogger("mux")),
		// All calls share the socket. The kernel counts some 800 bytes for a packet of audio, and takes twice what is asked: the buffers
		// hold the packets of 100 calls while the server stands still for 2 s, and for half a second the other way.
		ice.UDPMuxFromPortWithReadBufferSize(4 << 20),
		ice.UDPMuxFromPortWithWriteBufferSize(1 << 20),
		ice.UDPMuxFromPortWithIPFilter(e.serves),
		ice.UDPMuxFromPortWithNet(shared.Net{Net: e.system}),
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

// Local returns the addresses of this machine at which the engine receives media.
func (e *Engine) Local() (found []netip.Addr) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, own := range addrs {
		if prefix, err := netip.ParsePrefix(own.String()); err == nil && e.serves(prefix.Addr().AsSlice()) {
			found = append(found, prefix.Addr())
		}
	}
	return found
}

// serves reports whether the engine receives media at an address of this machine. A client cannot use a link-local address, because that
// means another machine in each network.
func (e *Engine) serves(a net.IP) bool {
	return !a.IsLinkLocalUnicast() && (e.cfg.Loopback || !a.IsLoopback()) && (!e.cfg.LoopbackOnly || a.IsLoopback())
}
