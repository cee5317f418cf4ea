// Package shared has the sockets that all calls share. They ignore the deadline that pion sets to end the writes of a call that closes.
package shared

import (
	"net"
	"net/netip"
	"time"

	"github.com/pion/transport/v4"
	"github.com/pion/transport/v4/stdnet"
)

// Net opens sockets without deadlines for writing. When a call closes while another one writes, ice v4.4.2 lets the writes of the whole
// socket time out, and the packets of the other calls are lost (pion/ice issue 991; v4.4.3 and later wait for 5 s first). A write to a UDP
// socket waits only while the kernel's buffer is full, and internal/hangup bounds the end of a call in any case.
type Net struct{ *stdnet.Net }

// ListenUDP implements transport.Net.
func (n Net) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	conn, err := net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return socket{conn}, nil
}

// socket is a socket that many calls write to. It implements ice.AddrPortReaderWriter.
type socket struct{ *net.UDPConn }

// SetWriteDeadline does nothing: a deadline of one call would be one of all calls.
func (socket) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the deadline for reading alone.
func (s socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

func (s socket) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	return s.ReadFromUDPAddrPort(b)
}

func (s socket) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return s.WriteToUDPAddrPort(b, to)
}
