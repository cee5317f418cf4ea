package relay

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/turn/v5"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "a shared secret"

var loopback = netip.MustParseAddr("127.0.0.1")

// media is a socket that answers each packet with the same.
func media(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(b[:n], from)
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func serve(t *testing.T, cfg Config) *Server {
	t.Helper()
	port, err := servertest.FreePort() // over TCP and UDP
	if err != nil {
		t.Fatal(err)
	}
	cfg.Address, cfg.Secret, cfg.Local = fmt.Sprint("127.0.0.1:", port), secret, func() []netip.Addr { return []netip.Addr{loopback} }
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// dial connects a client over "udp" or "tcp".
func dial(t *testing.T, s *Server, network string, c Credential) *turn.Client {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", s.Port())
	var conn net.PacketConn
	var err error
	if network == "tcp" {
		var stream net.Conn
		if stream, err = net.Dial("tcp", address); err == nil {
			conn = turn.NewSTUNConn(stream)
		}
	} else {
		conn, err = net.ListenPacket("udp4", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	client, err := turn.NewClient(&turn.ClientConfig{
		STUNServerAddr: address, TURNServerAddr: address, Conn: conn, Username: c.Username, Password: c.Password, Realm: realm,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.Listen(); err != nil {
		t.Fatal(err)
	}
	return client
}

// TestRelaysToTheMediaAlone checks that the relay reaches the media address, and no other port and no other address.
func TestRelaysToTheMediaAlone(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			g := gomega.NewWithT(t)
			calls, other := media(t), media(t)
			s := serve(t, Config{IsMedia: func(a netip.AddrPort) bool { return a == calls }})
			conn, err := dial(t, s, network, Issue(secret, "a", time.Now().Add(time.Minute))).Allocate()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer func() { _ = conn.Close() }()
			g.Expect(s.Allocations()).To(gomega.Equal(1))
			_, err = conn.WriteTo([]byte("to another program"), net.UDPAddrFromAddrPort(other))
			g.Expect(err).NotTo(gomega.HaveOccurred(), "it is dropped")
			_, err = conn.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(calls))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			b := make([]byte, 1500)
			n, from, err := conn.ReadFrom(b)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(string(b[:n])).To(gomega.Equal("hello"))
			g.Expect(from.String()).To(gomega.Equal(calls.String()))
			_, err = conn.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv4(192, 0, 2, 200), Port: int(calls.Port())})
			g.Expect(err).To(gomega.HaveOccurred(), "no permission for another machine")
		})
	}
}

// TestCredentials checks which credentials may allocate.
func TestCredentials(t *testing.T) {
	s := serve(t, Config{IsMedia: func(netip.AddrPort) bool { return true }})
	forged := Issue(secret, "a", time.Now().Add(time.Minute))
	forged.Username = "9" + forged.Username
	for name, row := range map[string]struct {
		c  Credential
		ok bool
	}{
		"issued":              {Issue(secret, "a", time.Now().Add(time.Minute)), true},
		"expired":             {Issue(secret, "a", time.Now().Add(-time.Second)), false},
		"of another secret":   {Issue("another", "a", time.Now().Add(time.Minute)), false},
		"made to live longer": {forged, false},
		"without an expiry":   {Credential{Username: "me", Password: password(secret, "me")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			conn, err := dial(t, s, "udp", row.c).Allocate()
			g.Expect(err == nil).To(gomega.Equal(row.ok), "%v", err)
			if err == nil {
				g.Expect(conn.Close()).To(gomega.Succeed())
			}
		})
	}
}

// TestQuotas checks how many allocations one credential, one client address, one payer and all clients may have.
func TestQuotas(t *testing.T) {
	fresh := func(payer func(i int) string) func(int) Credential {
		return func(i int) Credential { return Issue(secret, payer(i), time.Now().Add(time.Minute)) }
	}
	one := Issue(secret, "a", time.Now().Add(time.Minute))
	for name, row := range map[string]struct {
		cfg  Config
		of   func(int) Credential
		want int
	}{
		"one credential": {Config{MaxAllocations: 100}, func(int) Credential { return one }, maxPerCredential},
		"one address":    {Config{MaxAllocations: 100, MaxPerAddress: 6}, fresh(strconv.Itoa), 6},
		"all":            {Config{MaxAllocations: 5, MaxPerAddress: 100}, fresh(strconv.Itoa), 5},
		"one payer":      {Config{MaxAllocations: 8, MaxPerAddress: 100}, fresh(func(int) string { return "a" }), 6},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			row.cfg.IsMedia = func(netip.AddrPort) bool { return true }
			s := serve(t, row.cfg)
			made := 0
			for i := range row.want + 2 {
				conn, err := dial(t, s, "udp", row.of(i)).Allocate()
				if err == nil {
					made++
					defer func() { _ = conn.Close() }()
				}
			}
			g.Expect(made).To(gomega.Equal(row.want))
		})
	}
}

// TestChannels checks that a client binds channels to few addresses, and that others do so meanwhile. Each channel costs memory.
func TestChannels(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, Config{IsMedia: func(netip.AddrPort) bool { return true }})
	bind := func(ports int) (client *turn.Client, conn net.PacketConn) {
		client = dial(t, s, "udp", Issue(secret, "a", time.Now().Add(time.Minute)))
		conn, err := client.Allocate()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		t.Cleanup(func() { _ = conn.Close() })
		for port := range ports { // the client binds a channel with its first packet to each address
			_, err = conn.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1 + port})
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
		return client, conn
	}
	bound := func() (all int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, n := range s.channels {
			all += n
		}
		return all
	}
	here := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	greedy, relayed := bind(maxChannels)
	g.Eventually(bound, time.Minute).Should(gomega.Equal(maxChannels))
	g.Expect(greedy.CreatePermission(here)).To(gomega.MatchError(gomega.ContainSubstring("403")), "it has all channels that it may have")
	other, _ := bind(1)
	g.Expect(other.CreatePermission(here)).To(gomega.Succeed())
	g.Eventually(bound, time.Minute).Should(gomega.Equal(maxChannels + 1))
	g.Expect(relayed.Close()).To(gomega.Succeed())
	g.Eventually(bound, time.Minute).Should(gomega.Equal(1), "the end of an allocation ends its channels")
}

// TestANetworkIsOneAddress checks that all addresses of an IPv6 network of 64 bits share the quota of one address.
func TestANetworkIsOneAddress(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, Config{MaxAllocations: 100, MaxPerAddress: 3, IsMedia: func(netip.AddrPort) bool { return true }})
	at := func(i int) net.Addr {
		return net.UDPAddrFromAddrPort(netip.MustParseAddrPort(fmt.Sprintf("[2001:db8::%d]:1000", i)))
	}
	user := Issue(secret, "a", time.Now().Add(time.Minute)).Username
	for i := range 3 {
		g.Expect(s.permitsMore(user, realm, at(i))).To(gomega.BeTrue())
		s.count(strconv.Itoa(i), at(i), 1)
	}
	g.Expect(s.permitsMore(user, realm, at(4))).To(gomega.BeFalse())
}

// TestTheRelayIsNoFirehose checks that a client cannot send faster than its rate for long.
func TestTheRelayIsNoFirehose(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	c := &mediaConn{server: &Server{cfg: Config{BytesPerSecond: 1000}}, left: 1000, at: now}
	sent := 0
	for range 10_000 { // 10 s
		now = now.Add(time.Millisecond)
		if c.take(100, now) {
			sent += 100
		}
	}
	g.Expect(sent).To(gomega.BeNumerically("<=", 14_000))
	g.Expect(sent).To(gomega.BeNumerically(">=", 10_000))
}

// TestSilentConnections checks that a connection over TCP without an allocation is closed in time, whatever it has sent, that one with an allocation lives on, and
// that Close ends it.
func TestSilentConnections(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, Config{IsMedia: func(netip.AddrPort) bool { return true }, first: time.Second})
	conn, err := dial(t, s, "tcp", Issue(secret, "a", time.Now().Add(time.Minute))).Allocate()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = conn.Close() }()                                                  // the server may be closed
	for _, sends := range []string{"", "\x00\x01\x00\x00\x21\x12\xA4\x42 transaction"} { // nothing, and a binding request
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, sends)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(c.SetReadDeadline(time.Now().Add(20 * time.Second))).To(gomega.Succeed())
		answer, err := io.ReadAll(c)
		g.Expect(err).NotTo(gomega.HaveOccurred(), "it ends")
		g.Expect(len(answer) > 0).To(gomega.Equal(sends != ""), "a request is answered")
	}
	deaf, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = deaf.Close() }()
	g.Expect(deaf.(*net.TCPConn).SetReadBuffer(1024)).To(gomega.Succeed())
	g.Expect(deaf.SetWriteDeadline(time.Now().Add(20 * time.Second))).To(gomega.Succeed())
	requests := strings.NewReader(strings.Repeat("\x00\x01\x00\x00\x21\x12\xA4\x42 transaction", 1<<20))
	_, err = io.Copy(deaf, requests)
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(os.IsTimeout(err)).To(gomega.BeFalse(), "also one that reads no answer ends")
	g.Expect(s.Allocations()).To(gomega.Equal(1), "the other one lives")
	g.Expect(s.Close()).To(gomega.Succeed())
	g.Eventually(s.Allocations).Should(gomega.BeZero())
}
