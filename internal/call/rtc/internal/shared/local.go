package shared

// Sockets for clients on this machine alone.

import (
	"net"
	"net/netip"

	"github.com/pion/transport/v4"
)

// Local opens sockets with another Net. The sockets drop the packets of other machines.
//
// Firefox has no loopback address of its own, and pairs no other address with one. So a server for this machine alone has to receive its packets at another address.
type Local struct{ transport.Net }

// ListenUDP implements transport.Net. The addresses of this machine are those of this moment.
func (l Local) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := make(map[netip.Addr]bool, len(addrs))
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own[prefix.Addr().Unmap()] = true
		}
	}
	conn, err := l.Net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return localSocket{conn, own}, nil
}

// localSocket is a socket that drops the packets of other machines. pion reads with ReadFrom alone.
type localSocket struct {
	transport.UDPConn
	own map[netip.Addr]bool
}

// ReadFrom implements net.PacketConn.
func (s localSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := s.UDPConn.ReadFrom(b)
		if err != nil {
			return n, from, err
		}
		if a, is := from.(*net.UDPAddr); is && s.isOwn(a.AddrPort().Addr()) {
			return n, from, nil
		}
	}
}

func (s localSocket) isOwn(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsLoopback() || s.own[a]
}
