package relay

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/pion/turn/v5"
)

// The sockets of the relay: they send to the media addresses of this server only, and not faster than a call needs.

// errNoTCP is the answer to a client that asks the relay for TCP connections.
var errNoTCP = errors.New("relay: only UDP is relayed")

// generator makes the sockets of allocations.
type generator struct{ server *Server }

// Validate implements turn.RelayAddressGenerator.
func (g generator) Validate() error { return nil }

// AllocatePacketConn implements turn.RelayAddressGenerator. A client cannot choose the port.
func (g generator) AllocatePacketConn(c turn.AllocateListenerConfig) (net.PacketConn, net.Addr, error) {
	for _, local := range g.server.cfg.Local() {
		if local.Is4() != strings.HasSuffix(c.Network, "4") {
			continue
		}
		conn, err := net.ListenUDP(c.Network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, 0)))
		if err != nil {
			return nil, nil, err
		}
		return &mediaConn{UDPConn: conn, server: g.server, left: g.server.cfg.BytesPerSecond, at: time.Now()}, conn.LocalAddr(), nil
	}
	return nil, nil, errors.New("relay: this machine has no address for " + c.Network)
}

// AllocateListener implements turn.RelayAddressGenerator.
func (generator) AllocateListener(turn.AllocateListenerConfig) (net.Listener, net.Addr, error) {
	return nil, nil, errNoTCP
}

// AllocateConn implements turn.RelayAddressGenerator.
func (generator) AllocateConn(turn.AllocateConnConfig) (net.Conn, error) { return nil, errNoTCP }

// mediaConn is the socket of one allocation. It drops packets to other addresses than those of the media, and what comes too fast.
type mediaConn struct {
	*net.UDPConn
	server *Server

	mu   sync.Mutex
	left int // bytes that may be sent now
	at   time.Time
}

// WriteTo implements net.PacketConn.
func (c *mediaConn) WriteTo(b []byte, to net.Addr) (int, error) {
	udp, ok := to.(*net.UDPAddr)
	if !ok || !c.server.cfg.IsMedia(udp.AddrPort()) || !c.take(len(b), time.Now()) {
		return len(b), nil
	}
	return c.UDPConn.WriteTo(b, to)
}

// ReadFrom implements net.PacketConn: it passes on packets of the media addresses only.
func (c *mediaConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.UDPConn.ReadFromUDPAddrPort(b)
		if err != nil || c.server.cfg.IsMedia(from) {
			return n, net.UDPAddrFromAddrPort(netip.AddrPortFrom(from.Addr().Unmap(), from.Port())), err
		}
	}
}

// take reports whether n bytes may be sent now, and subtracts them. Four seconds' worth may be sent at once.
func (c *mediaConn) take(n int, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	rate := c.server.cfg.BytesPerSecond
	passed := min(now.Sub(c.at), 4*time.Second)
	c.left, c.at = min(4*rate, c.left+int(passed.Seconds()*float64(rate))), now
	if n > c.left {
		return false
	}
	c.left -= n
	return true
}
