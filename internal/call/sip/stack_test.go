package sip

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	. "github.com/onsi/gomega"
)

// What the SIP stack does when it has no connection.

// listening is a TCP socket that takes no connection by itself.
func listening(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// The stack opens no connection, and looks up no host: not to a trunk whose connection has just ended, and not to whom a stranger names in a Via.
func TestTheStackOpensNoConnection(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serving(t, Config{})
	victim := listening(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, transport := range []string{TCP, TLS} {
		for _, to := range []string{victim.Addr().String(), "victim.example:5060"} {
			r := sip.NewRequest(sip.OPTIONS, sip.Uri{Scheme: "sip", Host: "a.example"})
			r.AppendHeader(&sip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: transport, Params: sip.NewParams()})
			r.SetTransport(transport)
			r.SetDestination(to)
			_, err := s.ua.TransportLayer().ClientRequestConnection(ctx, r)
			g.Expect(err).To(MatchError(ContainSubstring("the connection has ended")), transport+" "+to)
		}
	}
	g.Expect(victim.SetDeadline(time.Now())).To(Succeed())
	_, err := victim.Accept()
	g.Expect(err).To(HaveOccurred(), "nobody has connected")
}

// The server hangs up a call over TCP whose Record-Route names a proxy of the trunk: the server opens the connection to it.
func TestByeOverTCPToAProxy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	proxy := listening(t)
	p := newTelephone(t, s)
	c, err := net.Dial("tcp", s.Address().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = c.Close() }()
	send := func(text string) {
		_, err := io.WriteString(c, strings.ReplaceAll(text, "SIP/2.0/UDP", "SIP/2.0/TCP"))
		g.Expect(err).NotTo(HaveOccurred())
	}
	send(p.message("INVITE", offer, fmt.Sprintf("Record-Route: <sip:%s;lr>", proxy.Addr())))
	p.tag = tagOfAnswer(g, c)
	send(p.message("ACK", ""))
	l := <-lines
	g.Eventually(l.begun, patience).Should(Receive())
	go l.call.HangUp()
	g.Expect(proxy.SetDeadline(time.Now().Add(patience))).To(Succeed())
	in, err := proxy.Accept()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = in.Close() }()
	got := make([]byte, 4)
	_, err = io.ReadFull(in, got)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got)).To(Equal("BYE "))
}

// tagOfAnswer reads answers to an INVITE until it is accepted, and returns the tag.
func tagOfAnswer(g *WithT, c net.Conn) (tag string) {
	g.Expect(c.SetReadDeadline(time.Now().Add(patience))).To(Succeed())
	parser, buf := sip.NewParser().NewSIPStream(), make([]byte, 64<<10)
	for tag == "" {
		n, err := c.Read(buf)
		g.Expect(err).NotTo(HaveOccurred())
		_ = parser.ParseSIPStream(buf[:n], func(m sip.Message) { // a part of a message is an error
			if res, ok := m.(*sip.Response); ok && res.IsSuccess() {
				tag, _ = res.To().Params.Get("tag")
			}
		})
	}
	return tag
}

// Who connects from the address of a trunk's server does not get what goes to it: the stack has one connection to an address.
func TestConnectionFromAnAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	listener := listening(t)
	first, err := net.Dial("tcp", listener.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = first.Close() }()
	second, err := net.Dial("tcp", listener.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = second.Close() }()
	l := newConnections(listener, newDoor(desk, time.Now), func(from netip.AddrPort) bool { return from == addressOf(first.LocalAddr()) })
	c, err := l.Accept()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.RemoteAddr()).To(Equal(second.LocalAddr()))
	g.Expect(c.Close()).To(Succeed())
	g.Expect(first.SetDeadline(time.Now().Add(patience))).To(Succeed())
	_, err = first.Read(make([]byte, 1))
	g.Expect(err).To(MatchError(io.EOF))
}

// A trunk that says nothing at all to a call over TCP loses its connection: a firewall may have dropped it, and the next call needs another one.
func TestCallOutOverAConnectionThatIsDead(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	proxy := listening(t)
	s := serving(t, Config{Trunks: []Trunk{{
		Name: "provider", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Calls: 1,
		Out: &Out{Proxy: proxy.Addr().String(), User: "4930123", Transport: TCP},
	}}})
	o := &outgoing{g: g, s: s}
	o.places(100 * time.Millisecond)
	g.Expect(proxy.SetDeadline(time.Now().Add(patience))).To(Succeed())
	c, err := proxy.Accept()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = c.Close() }()
	g.Expect(c.SetReadDeadline(time.Now().Add(patience))).To(Succeed())
	said, err := io.ReadAll(c)
	g.Expect(err).NotTo(HaveOccurred(), "the server has closed it")
	g.Expect(string(said)).To(HavePrefix("INVITE "))
	o.hears("failed 0")
	o.ends()
}
