package sip

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
	. "github.com/onsi/gomega"
)

// provider is a trunk whose registrar is p.
func provider(p *telephone) []Trunk {
	return []Trunk{{
		Name: "provider", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Register: &Registration{Registrar: p.conn.LocalAddr().String(), User: "4930123", Password: "a good password"},
	}}
}

// registrar is a telephone that plays a provider: it has no server to talk to yet.
func newRegistrar(t *testing.T) *telephone {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &telephone{g: NewWithT(t), conn: conn, id: newID(), cseq: 1}
}

// replies answers a request of the server.
func (p *telephone) replies(r *sip.Request, status int, headers ...sip.Header) {
	res := sip.NewResponseFromRequest(r, status, "x", nil)
	for _, h := range headers {
		res.AppendHeader(h)
	}
	p.send(res.String())
}

// registers plays the registrar for one registration, and returns how long the server wants it.
func (p *telephone) registers(granted string) string {
	first := p.request("REGISTER")
	p.replies(first, 401, sip.NewHeader("WWW-Authenticate", `Digest realm="provider", nonce="n", qop="auth"`))
	second := p.request("REGISTER")
	shown, err := digest.ParseCredentials(second.GetHeader("Authorization").Value())
	p.g.Expect(err).NotTo(HaveOccurred())
	want, err := digest.Digest(&digest.Challenge{Realm: "provider", Nonce: "n", QOP: []string{"auth"}}, digest.Options{
		Method: "REGISTER", URI: shown.URI, Username: "4930123", Password: "a good password", Cnonce: shown.Cnonce, Count: shown.Nc,
	})
	p.g.Expect(err).NotTo(HaveOccurred())
	p.g.Expect(shown.Response).To(Equal(want.Response))
	p.g.Expect(second.CSeq().SeqNo).To(Equal(first.CSeq().SeqNo + 1))
	p.g.Expect(second.Contact().Address.User).To(Equal("4930123"))
	p.g.Expect(fmt.Sprint(second.Contact().Address.Port)).To(Equal(fmt.Sprint(p.to.Port())))
	p.replies(second, 200, sip.NewHeader("Expires", granted))
	return second.GetHeader("Expires").Value()
}

// The server logs in at a provider, whose calls then come for the account. At its end it logs out.
func TestRegistration(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	p := newRegistrar(t)
	s, lines := accepting(t, Config{Trunks: provider(p)})
	p.to = s.Address()
	g.Expect(p.registers("3600")).To(Equal("600"))
	p.call(lines)
	closed := make(chan struct{})
	go func() { _ = s.Close(); close(closed) }()
	g.Expect(p.registers("0")).To(Equal("0"))
	g.Eventually(closed, patience).Should(BeClosed())
}

// A registrar that refuses, or does not answer, holds up nothing.
func TestRegistrarThatRefuses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	p := newRegistrar(t)
	s, lines := accepting(t, Config{Trunks: provider(p)})
	p.to = s.Address()
	p.replies(p.request("REGISTER"), 403)
	newTelephone(t, s).call(lines)
	began := time.Now()
	g.Expect(s.Close()).To(Succeed())
	g.Expect(time.Since(began)).To(BeNumerically("<", closeWithin))
}

func TestHowLongARegistrationIs(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for text, want := range map[string]time.Duration{
		"Contact: <sip:a@b>;expires=60\r\nExpires: 90\r\n": time.Minute, "Expires: 90\r\n": 90 * time.Second, "": registeredFor, "Expires: x\r\n": registeredFor,
		"Expires: -5\r\n": registeredFor,
	} {
		m, err := sip.ParseMessage([]byte("SIP/2.0 200 OK\r\nCSeq: 1 REGISTER\r\n" + text + "Content-Length: 0\r\n\r\n"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(expiry(m.(*sip.Response), registeredFor)).To(Equal(want), text)
	}
}

func TestWrongRegistrations(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	here := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	for wrong, trunk := range map[string]Trunk{
		"want a host":          {Name: "a", Networks: here, Register: &Registration{User: "a", Password: "b"}},
		"a host and a port":    {Name: "a", Networks: here, Register: &Registration{Registrar: "a:b", User: "a", Password: "b"}},
		"user and a password":  {Name: "a", Networks: here, Register: &Registration{Registrar: "a", User: "a"}},
		"provider's addresses": {Name: "a", User: "a", Password: "b", Register: &Registration{Registrar: "a", User: "a", Password: "b"}},
	} {
		g.Expect(Check([]Trunk{trunk})).To(MatchError(ContainSubstring(wrong)))
	}
	_, err := New(Config{ListenTLS: "127.0.0.1:0", Trunks: []Trunk{{Name: "a", Networks: here, Register: &Registration{Registrar: "a", User: "a", Password: "b"}}}})
	g.Expect(err).To(MatchError(ContainSubstring("need SIP over UDP")))
}
