package sip

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/account"
)

// desk is a trunk with a password.
var desk = []Trunk{{Name: "desk", User: "desk", Password: "a good password"}}

// credentials returns the header that answers a challenge.
func credentials(g *WithT, res *sip.Response, user, password string) string {
	g.Expect(res.StatusCode).To(Equal(401))
	c, err := digest.ParseChallenge(res.GetHeader("WWW-Authenticate").Value())
	g.Expect(err).NotTo(HaveOccurred())
	shown, err := digest.Digest(c, digest.Options{Method: "INVITE", URI: "sip:4930123@127.0.0.1", Username: user, Password: password, Count: 1})
	g.Expect(err).NotTo(HaveOccurred())
	return "Authorization: " + shown.String()
}

func TestPassword(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{Trunks: desk})
	p := newTelephone(t, s)
	challenge := p.ask("INVITE", offer)
	p.ack("")
	for user, password := range map[string]string{"desk": "wrong", "nobody": "", "": "a good password"} {
		p.cseq++
		g.Expect(p.ask("INVITE", offer, credentials(g, challenge, user, password)).StatusCode).To(Equal(401))
	}
	p.cseq++
	g.Expect(p.ask("INVITE", offer, credentials(g, challenge, "desk", "a good password")).StatusCode).To(Equal(200))
	p.ack("")
	l := <-lines
	g.Eventually(l.begun).Should(Receive())
	g.Expect(fmt.Sprint(l.call.Headers())).NotTo(ContainSubstring("Digest"), "others do not see credentials")
	p.cseq++
	g.Expect(p.ask("BYE", "").StatusCode).To(Equal(200))
	p.tag, p.id = "", newID()
	p.cseq++
	g.Expect(p.ask("INVITE", offer).StatusCode).To(Equal(401), "the next call shows credentials again")
}

// A nonce is for one address and for a short time.
func TestNonce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	now := time.Unix(1_800_000_000, 0)
	d := newDoor(desk, func() time.Time { return now })
	from, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	nonce := d.nonce(from, now)
	g.Expect(d.fresh(nonce, from)).To(BeTrue())
	g.Expect(d.fresh(nonce, other)).To(BeFalse())
	g.Expect(d.fresh("", from)).To(BeFalse())
	g.Expect(newDoor(desk, d.now).fresh(nonce, from)).To(BeFalse(), "of another server")
	now = now.Add(nonceLife)
	g.Expect(d.fresh(nonce, from)).To(BeFalse())
}

// An INVITE without credentials leaves nothing behind, and the answer is no larger than the request. A flood gets few answers.
func TestFloodOfStrangers(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serving(t, Config{Trunks: desk})
	now := time.Unix(1_800_000_000, 0)
	s.door.now = func() time.Time { return now }
	p := newTelephone(t, s)
	invite := p.message("INVITE", offer)
	from := netip.MustParseAddrPort("192.0.2.1:5060")
	answers := 0
	_, small := s.door.pass([]byte(p.message("INVITE", "", "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS", "User-Agent: a telephone", "Supported: timer")), netip.MustParseAddrPort("192.0.2.2:5060"))
	g.Expect(small).NotTo(BeNil(), "also an INVITE without a description is asked")
	for range 1000 {
		passes, answer := s.door.pass([]byte(invite), from)
		g.Expect(passes).To(BeFalse())
		g.Expect(len(answer)).To(BeNumerically("<=", len(invite)))
		if answer != nil {
			answers++
		}
	}
	g.Expect(answers).To(Equal(triesAtOnce))
	for i := range 3 * maxNetworks {
		s.door.try(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	g.Expect(len(s.door.tries)).To(BeNumerically("<=", maxNetworks+1))
	now = now.Add(time.Minute)
	g.Expect(s.door.try(netip.MustParseAddr("198.51.100.1"))).To(BeTrue())
	g.Expect(s.door.tries).To(HaveLen(1), "budgets that are full again are forgotten")
	g.Expect(s.door.admitted).To(BeEmpty())
	g.Expect(s.calls).To(BeEmpty())
}

// What a stranger sends beside an INVITE gets no answer at all.
func TestStrangersGetNoAnswer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serving(t, Config{Trunks: desk})
	p := newTelephone(t, s)
	from := netip.MustParseAddrPort("192.0.2.1:5060")
	inDialog := *p
	inDialog.tag = "guessed"
	for name, text := range map[string]string{
		"OPTIONS":     p.message("OPTIONS", ""),
		"REGISTER":    p.message("REGISTER", ""),
		"BYE":         inDialog.message("BYE", ""),
		"re-INVITE":   inDialog.message("INVITE", offer),
		"garbage":     "hello",
		"nothing":     "",
		"a response":  "SIP/2.0 200 OK\r\n\r\n",
		"no Via":      strings.Replace(p.message("INVITE", offer), "Via:", "X-Via:", 1),
		"huge header": p.message("INVITE", offer, "X-Large: "+strings.Repeat("x", 2*maxStranger)),
		"small":       "INVITE sip:a SIP/2.0\r\nv:SIP/2.0/UDP a\r\nf:<sip:a>;tag=1\r\nt:<sip:a>\r\ni:1\r\nCSeq:1 INVITE\r\n\r\n",
	} {
		passes, answer := s.door.pass([]byte(text), from)
		g.Expect(passes).To(BeFalse(), name)
		g.Expect(answer).To(BeNil(), name)
	}
}

// A connection of a stranger ends after a few bytes.
func TestConnectionOfAStranger(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serving(t, Config{Trunks: desk})
	c, err := net.Dial("tcp", s.Address().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = c.Close() }()
	g.Expect(c.SetDeadline(time.Now().Add(patience))).To(Succeed())
	for err == nil {
		_, err = c.Write([]byte("INVITE sip:a SIP/2.0\r\nX-Large: " + strings.Repeat("x", 4<<10) + "\r\n"))
	}
	g.Expect(err).NotTo(MatchError(os.ErrDeadlineExceeded), "it was closed")
}

// The connections of one network, also of a trunk, leave room for those of others.
func TestConnectionsOfATrunk(t *testing.T) {
	g := NewWithT(t)
	trunks := []Trunk{{Name: "a", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
	l := newConnections(nil, newDoor(trunks, time.Now), nil)
	for range maxConnections {
		l.enter(netip.MustParseAddrPort("127.0.0.1:5060"))
	}
	_, ok := l.enter(netip.MustParseAddrPort("127.0.0.2:5060"))
	g.Expect(ok).To(BeTrue())
	_, ok = l.enter(netip.MustParseAddrPort("127.0.0.1:5060"))
	g.Expect(ok).To(BeFalse())
}

// Strangers, from however many networks, leave half of the connections to trunks. Who shows credentials gives back the place.
func TestConnectionsOfStrangers(t *testing.T) {
	g := NewWithT(t)
	trunk := netip.MustParseAddrPort("198.51.100.1:5060")
	l := newConnections(nil, newDoor([]Trunk{{Name: "a", Networks: []netip.Prefix{netip.PrefixFrom(trunk.Addr(), 32)}}}, time.Now), nil)
	var places []*account.Account
	for a := range byte(200) {
		for port := range uint16(2 * connectionsEach) {
			if place, ok := l.enter(netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, a}), 1+port)); ok {
				places = append(places, place)
			}
		}
		if a == 9 {
			g.Expect(places).To(HaveLen(10*connectionsEach), "ten networks leave room to further ones")
		}
	}
	g.Expect(len(places)).To(BeNumerically("<=", maxStrangers))
	for range connectionsMost {
		_, ok := l.enter(trunk)
		g.Expect(ok).To(BeTrue(), "a trunk has its places")
	}
	late := netip.MustParseAddrPort("192.0.2.1:5060")
	_, ok := l.enter(late)
	g.Expect(ok).To(BeFalse())
	places[0].Close()
	_, ok = l.enter(late)
	g.Expect(ok).To(BeTrue())
}

// A stranger who sends nothing, or no credentials, loses the connection in time.
func TestAStrangerLosesTheConnection(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, _ := accepting(t, Config{Trunks: desk})
	c, err := net.Dial("tcp", s.Address().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = c.Close() }()
	g.Expect(c.SetDeadline(time.Now().Add(strangerTime + strangerTime/2))).To(Succeed())
	_, err = c.Write([]byte("INVITE sip:a SIP/2.0\r\n"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Read(make([]byte, 1))
	g.Expect(err).NotTo(MatchError(os.ErrDeadlineExceeded), "it was closed")
}

// A call over TCP with a password: the connection stays.
func TestPasswordOverTCP(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{Trunks: desk})
	c, err := net.Dial("tcp", s.Address().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = c.Close() }()
	g.Expect(c.SetDeadline(time.Now().Add(patience))).To(Succeed())
	p := newTelephone(t, s)
	send := func(text string) {
		_, err := c.Write([]byte(strings.ReplaceAll(text, "SIP/2.0/UDP", "SIP/2.0/TCP")))
		g.Expect(err).NotTo(HaveOccurred())
	}
	var messages []*sip.Response
	parser := sip.NewParser().NewSIPStream()
	answer := func() (last *sip.Response) {
		buf := make([]byte, 64<<10)
		for last == nil {
			for i, res := range messages {
				if res.StatusCode >= 200 {
					last, messages = res, messages[i+1:]
					break
				}
			}
			if last != nil {
				break
			}
			n, err := c.Read(buf)
			g.Expect(err).NotTo(HaveOccurred())
			_ = parser.ParseSIPStream(buf[:n], func(m sip.Message) {
				if res, ok := m.(*sip.Response); ok {
					messages = append(messages, res)
				}
			})
		}
		return last
	}
	send(p.message("INVITE", offer))
	challenge := answer()
	p.tag, _ = challenge.To().Params.Get("tag")
	send(p.message("ACK", ""))
	p.tag = ""
	p.cseq++
	send(p.message("INVITE", offer, credentials(g, challenge, "desk", "a good password")))
	res := answer()
	g.Expect(res.StatusCode).To(Equal(200))
	p.tag, _ = res.To().Params.Get("tag")
	send(p.message("ACK", ""))
	l := <-lines
	g.Eventually(l.begun).Should(Receive())
	g.Expect(s.door.known(addressOf(c.LocalAddr()))).NotTo(BeNil())
	p.cseq++
	send(p.message("BYE", ""))
	g.Expect(answer().StatusCode).To(Equal(200))
}
