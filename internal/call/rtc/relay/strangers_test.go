package relay

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/stun/v4"
)

// TestAnswersToStrangersAreShort: who forges an address sends little more to it than to the server, and only for requests that a client sends.
func TestAnswersToStrangersAreShort(t *testing.T) {
	s := serve(t, Config{IsMedia: func(netip.AddrPort) bool { return true }})
	udp := stun.RawAttribute{Type: stun.AttrRequestedTransport, Length: 4, Value: []byte{17, 0, 0, 0}}
	forged := stun.RawAttribute{Type: stun.AttrMessageIntegrity, Length: 20, Value: make([]byte, 20)}
	allocate, refresh := stun.NewType(stun.MethodAllocate, stun.ClassRequest), stun.NewType(stun.MethodRefresh, stun.ClassRequest)
	for name, row := range map[string]struct {
		request []stun.Setter
		most    int // 0: no answer
	}{
		"for its address":              {[]stun.Setter{stun.BindingRequest}, 32},
		"for an allocation":            {[]stun.Setter{allocate, udp}, 64},
		"for an allocation of nothing": {[]stun.Setter{allocate}, 0},
		"for a refresh":                {[]stun.Setter{refresh}, 0},
		"for a permission":             {[]stun.Setter{stun.NewType(stun.MethodCreatePermission, stun.ClassRequest)}, 0},
		"with forged credentials":      {[]stun.Setter{refresh, stun.NewNonce("x"), forged}, 64},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c, err := net.Dial("udp4", fmt.Sprint("127.0.0.1:", s.Port()))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer func() { _ = c.Close() }()
			g.Expect(c.SetDeadline(time.Now().Add(20 * time.Second))).To(gomega.Succeed())
			m, err := stun.Build(append([]stun.Setter{stun.TransactionID}, row.request...)...)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = c.Write(m.Raw)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			if row.most == 0 { // the answer to a second request comes first
				m, err = stun.Build(stun.TransactionID, stun.BindingRequest)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				_, err = c.Write(m.Raw)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				row.most = 32
			}
			b := make([]byte, 1500)
			n, err := c.Read(b)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			answer := stun.Message{Raw: b[:n]}
			g.Expect(answer.Decode()).To(gomega.Succeed())
			g.Expect(answer.TransactionID).To(gomega.Equal(m.TransactionID))
			g.Expect(n).To(gomega.BeNumerically("<=", row.most), "for %d", len(m.Raw))
		})
	}
}

// TestFewAnswersToStrangers: one network gets few answers without credentials, and another network gets its own.
func TestFewAnswersToStrangers(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1_800_000_000, 0)
	c := newStrangers(nil)
	c.now = func() time.Time { return now }
	got := func(network string, requests int) (n int) {
		for range requests {
			if c.take(network) {
				n++
			}
		}
		return n
	}
	g.Expect(got("192.0.2.1", 10_000)).To(gomega.Equal(answersAtOnce))
	others := 0
	for i := range 100 {
		others += got(fmt.Sprint("198.51.100.", i), 1)
	}
	g.Expect(others).To(gomega.BeNumerically(">", 90), "few networks share a budget with another one")
	now = now.Add(2 * time.Second)
	g.Expect(got("192.0.2.1", 10_000)).To(gomega.Equal(2 * answersPerSecond))
}
