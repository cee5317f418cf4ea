package shared

// The sockets for clients on this machine alone.

import (
	"net"
	"net/netip"
	"testing"

	"github.com/onsi/gomega"
	"github.com/pion/transport/v4"
	"github.com/pion/transport/v4/stdnet"
)

// arrivals is a socket at which packets arrive, each from an address that it contains.
type arrivals struct {
	transport.UDPConn
	from []string
}

func (a *arrivals) ReadFrom(b []byte) (int, net.Addr, error) {
	if len(a.from) == 0 {
		return 0, nil, net.ErrClosed
	}
	from := netip.MustParseAddrPort(a.from[0])
	a.from = a.from[1:]
	return copy(b, from.String()), net.UDPAddrFromAddrPort(from), nil
}

func TestPacketsOfOtherMachinesAreDropped(t *testing.T) {
	g := gomega.NewWithT(t)
	s := localSocket{
		&arrivals{from: []string{"192.0.2.9:1", "127.0.0.1:2", "[2001:db8::1]:3", "[::1]:4", "192.0.2.2:5", "[::ffff:192.0.2.2]:6", "[::ffff:192.0.2.9]:7", "[fe80::1%eth0]:8"}},
		map[netip.Addr]bool{netip.MustParseAddr("192.0.2.2"): true, netip.MustParseAddr("fe80::1"): true},
	}
	var got []string
	buf := make([]byte, 100)
	for {
		n, _, err := s.ReadFrom(buf)
		if err != nil {
			g.Expect(err).To(gomega.MatchError(net.ErrClosed))
			break
		}
		got = append(got, string(buf[:n]))
	}
	g.Expect(got).To(gomega.Equal([]string{"127.0.0.1:2", "[::1]:4", "192.0.2.2:5", "[::ffff:192.0.2.2]:6", "[fe80::1%eth0]:8"}))
}

func TestPacketsOfThisMachineArrive(t *testing.T) {
	g := gomega.NewWithT(t)
	system, err := stdnet.NewNet()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	conn, err := Local{Net{system}}.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(conn.Close()).To(gomega.Succeed()) }()
	g.Expect(conn.WriteTo([]byte("hello"), conn.LocalAddr())).To(gomega.Equal(5))
	buf := make([]byte, 100)
	n, _, err := conn.ReadFrom(buf)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(buf[:n])).To(gomega.Equal("hello"))
}
