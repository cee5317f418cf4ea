package limited

import (
	"net"
	"net/netip"
	"testing"

	"github.com/onsi/gomega"
)

// TestLimits checks that connections above a limit are closed, and that a place is free again once a connection closes.
func TestLimits(t *testing.T) {
	for name, l := range map[string]struct{ all, each int }{"in all": {2, 10}, "of one address": {10, 2}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			tcp, err := net.Listen("tcp", "127.0.0.1:0")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			listener := New(tcp, l.all, l.each)
			defer func() { _ = listener.Close() }()
			dial := func() net.Conn {
				c, err := net.Dial("tcp", tcp.Addr().String())
				g.Expect(err).NotTo(gomega.HaveOccurred())
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
			accepted := make(chan net.Conn, 10)
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						close(accepted)
						return
					}
					accepted <- c
				}
			}()
			dial()
			first := <-accepted
			dial()
			second := <-accepted
			_, err = dial().Read(make([]byte, 1))
			g.Expect(err).To(gomega.HaveOccurred(), "it was closed")
			g.Expect(first.Close()).To(gomega.Succeed())
			g.Expect(first.Close()).NotTo(gomega.Succeed(), "it gives one place back")
			dial()
			third := <-accepted
			_, err = dial().Read(make([]byte, 1))
			g.Expect(err).To(gomega.HaveOccurred(), "it was closed")
			g.Expect(second.Close()).To(gomega.Succeed())
			g.Expect(third.Close()).To(gomega.Succeed())
			g.Expect(listener.open).To(gomega.BeZero())
			g.Expect(listener.hosts).To(gomega.BeEmpty())
		})
	}
}

// TestClient checks what counts as one client.
func TestClient(t *testing.T) {
	for at, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7", "[2001:db8::1]:80": "2001:db8::/64", "[2001:db8::2:0:0:7]:1": "2001:db8::/64",
	} {
		gomega.NewWithT(t).Expect(Client(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at)))).To(gomega.Equal(want), at)
	}
}
