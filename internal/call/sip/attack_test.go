package sip

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/sip/outbound"
)

// Breaks that an attack found.

// A caller does not choose who gets the requests of the server: a Record-Route counts only if it is the trunk's.
func TestRecordRouteOfAStranger(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{Trunks: []Trunk{{Name: "local", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}}})
	proxy, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = proxy.Close() }()
	for route, to := range map[string]*net.UDPConn{"<sip:127.0.0.78:5999;lr>": nil, "<sip:proxy.example.org;lr>": nil, "<sip:" + proxy.LocalAddr().String() + ";lr>": proxy} {
		p := newTelephone(t, s)
		res := p.ask("INVITE", offer, "Record-Route: "+route)
		g.Expect(res.GetHeader("Record-Route").Value()).To(Equal(route))
		p.ack("")
		l := <-lines
		g.Eventually(l.begun, patience).Should(Receive())
		go l.call.HangUp()
		if to != nil {
			p.conn = to
		}
		bye := p.request("BYE")
		g.Expect(bye.Route().Value()).To(Equal(route))
	}
}

// Credentials are good for one call, and for the number that it calls. A telephone that counts the uses of a nonce goes on with it.
func TestCredentialsAreGoodOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, _ := accepting(t, Config{Trunks: desk})
	challenge := newTelephone(t, s).ask("INVITE", offer)
	c, err := digest.ParseChallenge(challenge.GetHeader("WWW-Authenticate").Value())
	g.Expect(err).NotTo(HaveOccurred())
	shown := func(uri string, count int, qop ...string) string {
		c.QOP = qop
		d, err := digest.Digest(c, digest.Options{Method: "INVITE", URI: uri, Username: "desk", Password: "a good password", Count: count})
		g.Expect(err).NotTo(HaveOccurred())
		return "Authorization: " + d.String()
	}
	for i, row := range []struct {
		header string
		status int
	}{
		{shown("sip:999@127.0.0.1", 1, "auth"), 401},
		{shown("sip:4930123@127.0.0.1", 1, "auth"), 200},
		{shown("sip:4930123@127.0.0.1", 1, "auth"), 401},
		{shown("sip:4930123@127.0.0.1", 1), 401},
		{shown("sip:4930123@127.0.0.1", 2, "auth"), 200},
	} {
		res := newTelephone(t, s).ask("INVITE", offer, row.header)
		g.Expect(res.StatusCode).To(Equal(row.status), fmt.Sprint("call ", i))
		if row.status == 401 && i > 0 {
			g.Expect(res.GetHeader("WWW-Authenticate").Value()).To(ContainSubstring("stale=true"), "the telephone tries again without a question to its user")
		}
	}
}

// Telephones behind one address that call in the same second have a nonce each.
func TestNoncesOfOneSecond(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, _ := accepting(t, Config{Trunks: desk})
	var phones []*telephone
	var challenges []*sip.Response
	for range 3 {
		p := newTelephone(t, s)
		phones, challenges = append(phones, p), append(challenges, p.ask("INVITE", offer))
	}
	for i, p := range phones {
		p.ack("")
		p.cseq++
		g.Expect(p.ask("INVITE", offer, credentials(g, challenges[i], "desk", "a good password")).StatusCode).To(Equal(200))
	}
}

// Who knows the tags of a call, and is not of its trunk, cannot confirm it over TCP: with a late offer it would say where the audio goes.
func TestAckFromOutsideOfTheTrunk(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{Trunks: []Trunk{{Name: "local", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}}})
	p := newTelephone(t, s)
	g.Expect(p.ask("INVITE", "").StatusCode).To(Equal(200))
	l := <-lines
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.3")}}).DialContext(t.Context(), "tcp", s.Address().String())
	g.Expect(err).NotTo(HaveOccurred())
	tcp := func(text string) string { return strings.Replace(text, "SIP/2.0/UDP", "SIP/2.0/TCP", 1) }
	_, err = io.WriteString(conn, tcp(p.message("ACK", offer))+tcp(p.message("OPTIONS", "")))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = io.ReadFull(conn, make([]byte, 12)) // the answer to OPTIONS: the ACK before it was read
	g.Expect(err).NotTo(HaveOccurred())
	g.Consistently(l.begun, "200ms").ShouldNot(Receive())
	p.ack(offer)
	g.Eventually(l.begun, patience).Should(Receive())
	g.Expect(conn.Close()).To(Succeed())
}

// Audio goes to no service of a machine, and not to this server's signalling.
func TestPortsThatAreNoneOfAudio(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	for _, port := range []string{"1", "53", "1023", fmt.Sprint(s.Address().Port())} {
		bad := strings.Replace(offer, "m=audio 40000", "m=audio "+port, 1)
		g.Expect(newTelephone(t, s).ask("INVITE", bad).StatusCode).To(Equal(488), port)
	}
	p := newTelephone(t, s)
	l := p.call(lines)
	p.cseq++
	g.Expect(p.ask("INVITE", strings.Replace(offer, "m=audio 40000", "m=audio 53", 1)+"a=sendonly\r\n").StatusCode).To(Equal(488))
	g.Expect(l.call.stream.Held()).To(BeFalse())
}

// A request that is larger than the server reads gets an answer.
func TestLargeMessage(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	for size, status := range map[int]int{20_000: 200, 60_000: 513} {
		p := newTelephone(t, s)
		g.Expect(p.ask("INVITE", offer, "X-Large: "+strings.Repeat("x", size)).StatusCode).To(Equal(status))
	}
	<-lines
	newTelephone(t, s).call(lines)
}

// A trunk, or who forges its address, does not fill the memory with requests: sipgo remembers each of them for 32 s. Another trunk has a budget of its own.
func TestFloodOfATrunk(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	now := time.Unix(1_800_000_000, 0)
	flood, calm := &Trunk{Name: "flood", Calls: 2}, &Trunk{Name: "calm"}
	d := newDoor(nil, func() time.Time { return now })
	taken := 0
	for range 1000 {
		if d.spend(flood, 1<<10) == 0 {
			taken++
		}
	}
	g.Expect(taken).To(Equal(2*bytesAtOnce>>10), "what two calls may send at once")
	g.Expect(d.spend(calm, 1<<10)).To(BeZero())
	now = now.Add(d.spend(flood, 1<<10))
	g.Expect(d.spend(flood, 1<<10)).To(BeZero())
	g.Expect(d.spend(flood, 1<<10)).To(BeNumerically(">", 0))

	socket := func(at string) net.PacketConn {
		c, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", at+":0")
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	at := func(name, network string) Trunk {
		return Trunk{Name: name, Networks: []netip.Prefix{netip.MustParsePrefix(network)}}
	}
	d = newDoor([]Trunk{at("flood", "127.0.0.2/32"), at("calm", "127.0.0.3/32")}, d.now)
	for d.spend(&d.trunks[0], 1<<10) == 0 {
	}
	server := socket("127.0.0.1")
	for _, from := range []string{"127.0.0.2", "127.0.0.3"} {
		_, err := socket(from).WriteTo([]byte(from), server.LocalAddr())
		g.Expect(err).NotTo(HaveOccurred())
	}
	got := make([]byte, 64)
	n, _, err := newDatagrams(server, d, func() {}).ReadFrom(got)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got[:n])).To(Equal("127.0.0.3"), "the server takes nothing more of the other trunk")
}

// A caller over TCP that sends requests and reads no answer loses its connection: each answer that waits holds a goroutine.
func TestAPeerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	near, far := net.Pipe()
	defer func() { _ = far.Close() }()
	l := newConnections(nil, newDoor(desk, time.Now), nil)
	c := &connection{Conn: near, of: l, closed: make(chan struct{})}
	answers := make(chan error, outbound.MaxWaiting/512+1)
	for range cap(answers) {
		go func() {
			_, err := c.Write(make([]byte, 512))
			answers <- err
		}()
	}
	slow := 0
	for range cap(answers) {
		if errors.Is(<-answers, outbound.ErrSlow) {
			slow++
		}
	}
	g.Expect(slow).To(BeNumerically(">", 0))
	g.Expect(c.closed).To(BeClosed())

	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer func() { _ = far.Close() }()
		c, began := &connection{Conn: near, of: l, closed: make(chan struct{})}, time.Now()
		_, err := c.Write([]byte("answer"))
		NewWithT(t).Expect(err).To(MatchError(os.ErrDeadlineExceeded))
		NewWithT(t).Expect(time.Since(began)).To(Equal(outbound.WriteWithin))
		NewWithT(t).Expect(c.closed).To(BeClosed())
	})
}
