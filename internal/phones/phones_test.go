package phones

import (
	"net"
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"
)

// Without a trunk only this machine calls, from any of its addresses: a softphone calls a loopback address from another one.
func TestTelephonesOfThisMachine(t *testing.T) {
	g := NewWithT(t)
	trunks, err := (&Config{Listen: "127.0.0.1:5060"}).Callers()
	g.Expect(err).NotTo(HaveOccurred())
	addresses, err := net.InterfaceAddrs()
	g.Expect(err).NotTo(HaveOccurred())
	for _, a := range addresses {
		own := netip.MustParsePrefix(a.String()).Addr()
		g.Expect(trunks[0].Networks).To(ContainElement(Satisfy(func(n netip.Prefix) bool { return n.Contains(own) })), own.String())
	}
	for _, at := range []string{":5060", "0.0.0.0:5060", "192.0.2.1:5060", "example.org:5060"} {
		_, err := (&Config{Listen: at}).Callers()
		g.Expect(err).To(MatchError(errNobodyCalls), at)
	}
}
