package shared

// The sockets that all calls share.

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/ice/v4"
	"github.com/pion/transport/v4/stdnet"
)

var _ ice.AddrPortReaderWriter = socket{}

// TestOneCallStopsNoWritesOfOthers: pion ends the writes of a call that closes by a deadline in the past. On a shared socket it must not stop the
// writes of other calls.
func TestOneCallStopsNoWritesOfOthers(t *testing.T) {
	g := gomega.NewWithT(t)
	system, err := stdnet.NewNet()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	conn, err := Net{system}.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(conn.Close()).To(gomega.Succeed()) }()
	s, is := conn.(socket)
	g.Expect(is).To(gomega.BeTrue())
	to := conn.LocalAddr().(*net.UDPAddr).AddrPort()

	g.Expect(conn.SetWriteDeadline(time.Unix(0, 0))).To(gomega.Succeed())
	g.Expect(s.WriteToAddrPort([]byte("of another call"), to)).To(gomega.Equal(len("of another call")))
	buf := make([]byte, 100)
	n, from, err := s.ReadFromAddrPort(buf)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(buf[:n])).To(gomega.Equal("of another call"))
	g.Expect(netip.AddrPortFrom(from.Addr().Unmap(), from.Port())).To(gomega.Equal(to))

	g.Expect(conn.SetDeadline(time.Unix(0, 0))).To(gomega.Succeed())
	_, _, err = s.ReadFromAddrPort(buf)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("timeout")), "the deadline of reading still ends the read")
	g.Expect(s.WriteToAddrPort([]byte("x"), to)).To(gomega.Equal(1))
}
