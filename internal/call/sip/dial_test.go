package sip

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
	. "github.com/onsi/gomega"
)

// outgoing is a call out to a telephone of the test, and what is told of it.
type outgoing struct {
	g    *WithT
	p    *telephone
	s    *Server
	line *line
	news chan string
	over chan struct{}
}

// dials has a server call a telephone.
func dials(t *testing.T, rings time.Duration) *outgoing {
	t.Helper()
	p := newRegistrar(t)
	s := serving(t, Config{Ring: nil, Trunks: []Trunk{{
		Name: "provider", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Calls: 1,
		Out: &Out{Proxy: p.conn.LocalAddr().String(), User: "4930123", Password: "a good password"},
	}}})
	p.to = s.Address()
	o := &outgoing{g: NewWithT(t), p: p, s: s}
	o.places(rings)
	return o
}

func (o *outgoing) places(rings time.Duration) {
	c, err := o.s.Dial("provider", "+49301")
	o.g.Expect(err).NotTo(HaveOccurred())
	o.line, o.news, o.over = newLine(c), make(chan string, 16), make(chan struct{})
	line, news, over := o.line, o.news, o.over
	go func() {
		defer close(over)
		c.Place(line, rings, func(s State, status int) { news <- fmt.Sprint(s, " ", status) })
	}()
}

// hears expects news.
func (o *outgoing) hears(want ...string) {
	for _, w := range want {
		o.g.Eventually(o.news, patience).Should(Receive(Equal(w)))
	}
}

// ends expects that nothing of the call is left, and that its line has heard of its end.
func (o *outgoing) ends() {
	o.g.Eventually(o.line.ended, patience).Should(Receive(HaveOccurred()))
	o.g.Eventually(o.over, patience).Should(BeClosed())
	o.g.Expect(o.news).To(BeEmpty())
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	o.g.Expect(o.s.calls).To(BeEmpty())
	o.g.Expect(o.s.busy["provider"]).To(BeZero())
}

// says answers a request of the server with a tag, and perhaps a description.
func (p *telephone) says(r *sip.Request, status int, body string) {
	res := sip.NewResponseFromRequest(r, status, "x", []byte(body))
	res.To().Params.Remove("tag")
	res.To().Params.Add("tag", "their-tag")
	res.AppendHeader(&sip.ContactHeader{Address: sip.Uri{Scheme: "sip", User: "callee", Host: "127.0.0.1", Port: 9}})
	p.send(res.String())
}

// within returns a request of the telephone within the call that the server has placed.
func (p *telephone) within(invite *sip.Request, method, body string) string {
	p.cseq++
	from, _ := invite.From().Params.Get("tag")
	return strings.Join([]string{
		method + " " + invite.Contact().Address.String() + " SIP/2.0",
		fmt.Sprintf("Via: SIP/2.0/UDP %s;rport;branch=z9hG4bK%s%s%d", p.conn.LocalAddr(), p.id, method, p.cseq),
		"Max-Forwards: 70", "From: <sip:+49301@127.0.0.1>;tag=their-tag", "To: <sip:4930123@127.0.0.1>;tag=" + from,
		"Call-ID: " + invite.CallID().Value(), fmt.Sprintf("CSeq: %d %s", p.cseq, method), fmt.Sprintf("Contact: <sip:callee@%s>", p.conn.LocalAddr()),
		"Content-Type: application/sdp", fmt.Sprintf("Content-Length: %d", len(body)), "", body,
	}, "\r\n")
}

func TestCallOutIsAnswered(t *testing.T) {
	t.Parallel()
	o := dials(t, time.Minute)
	invite := o.p.request("INVITE")
	o.g.Expect(invite.Recipient.User).To(Equal("+49301"))
	o.g.Expect(invite.From().Address.User).To(Equal("4930123"))
	o.g.Expect(string(invite.Body())).To(ContainSubstring("PCMA/8000"))
	o.p.says(invite, 180, "")
	o.hears("ringing 180")
	o.p.says(invite, 183, offer)
	o.hears("early_media 183")
	o.p.says(invite, 180, "")
	o.p.says(invite, 200, "") // the description was in the provisional answer
	ack := o.p.request("ACK")
	o.g.Expect(ack.CSeq().SeqNo).To(Equal(invite.CSeq().SeqNo))
	o.hears("answered 200")
	o.g.Eventually(o.line.begun, patience).Should(Receive())
	o.p.says(invite, 200, "") // as if the ACK was lost
	o.p.request("ACK")

	o.p.send(o.p.within(invite, "INVITE", strings.Replace(offer, "telephone-event/8000\r\n", "telephone-event/8000\r\na=sendonly\r\n", 1)))
	held := o.p.answer()
	o.g.Expect(held.StatusCode).To(Equal(200))
	o.g.Expect(string(held.Body())).To(ContainSubstring("a=recvonly"))
	o.g.Eventually(o.line.held.Load, patience).Should(BeTrue())

	go o.line.call.HangUp()
	bye := o.p.request("BYE")
	o.g.Expect(bye.CSeq().SeqNo).To(BeNumerically(">", invite.CSeq().SeqNo))
	o.p.says(bye, 200, "")
	o.line.ended <- errOver
	o.ends()
}

// A telephone that rings and answers at once has rung first.
func TestNewsOfACallOutKeepTheirOrder(t *testing.T) {
	t.Parallel()
	o := dials(t, time.Minute)
	for again := range 6 { // more messages would use up the budget of the trunk
		if again > 0 {
			o.places(time.Minute)
		}
		invite := o.p.request("INVITE")
		o.p.says(invite, 180, "")
		o.p.says(invite, 200, offer)
		o.p.request("ACK")
		o.hears("ringing 180", "answered 200")
		o.g.Eventually(o.line.begun, patience).Should(Receive())
		o.p.send(o.p.within(invite, "BYE", ""))
		o.g.Expect(o.p.answer().StatusCode).To(Equal(200))
		o.ends()
	}
}

var errOver = fmt.Errorf("over")

func TestTelephoneHangsUpACallOut(t *testing.T) {
	t.Parallel()
	o := dials(t, time.Minute)
	invite := o.p.request("INVITE")
	o.p.says(invite, 200, offer)
	o.p.request("ACK")
	o.hears("answered 200")
	o.g.Eventually(o.line.begun, patience).Should(Receive())
	o.p.send(o.p.within(invite, "BYE", ""))
	o.g.Expect(o.p.answer().StatusCode).To(Equal(200))
	o.ends()
}

func TestCallOutIsRefused(t *testing.T) {
	for status, state := range map[int]string{486: "busy", 600: "busy", 603: "declined", 607: "declined", 480: "no_answer", 404: "failed", 302: "failed"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			o := dials(t, time.Minute)
			o.p.says(o.p.request("INVITE"), status, "")
			o.p.request("ACK")
			o.hears(fmt.Sprint(state, " ", status))
			o.ends()
		})
	}
}

// The server shows its credentials to the trunk, and gives up when they are refused.
func TestCallOutWithAPassword(t *testing.T) {
	for name, kinds := range map[string][2]string{"proxy": {"Proxy-Authenticate", "Proxy-Authorization"}, "server": {"WWW-Authenticate", "Authorization"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := dials(t, time.Minute)
			status := map[string]int{"proxy": 407, "server": 401}[name]
			first := o.p.request("INVITE")
			o.p.replies(first, status, sip.NewHeader(kinds[0], `Digest realm="provider", nonce="n", algorithm=UNKNOWN`), sip.NewHeader(kinds[0], `Digest realm="provider", nonce="n", qop="auth", algorithm=md5`))
			o.p.request("ACK")
			second := o.p.request("INVITE")
			shown, err := digest.ParseCredentials(second.GetHeader(kinds[1]).Value())
			o.g.Expect(err).NotTo(HaveOccurred())
			want, err := digest.Digest(&digest.Challenge{Realm: "provider", Nonce: "n", QOP: []string{"auth"}, Algorithm: "MD5"}, digest.Options{
				Method: "INVITE", URI: second.Recipient.String(), Username: "4930123", Password: "a good password", Cnonce: shown.Cnonce, Count: shown.Nc,
			})
			o.g.Expect(err).NotTo(HaveOccurred())
			o.g.Expect(shown.Response).To(Equal(want.Response))
			o.g.Expect(second.CSeq().SeqNo).To(Equal(first.CSeq().SeqNo + 1))
			o.g.Expect(second.Body()).To(Equal(first.Body()))
			again := sip.NewHeader(kinds[0], `Digest realm="provider", nonce="m", qop="auth"`)
			o.p.replies(second, status, again)
			o.p.replies(o.p.request("INVITE"), status, again)
			o.hears(fmt.Sprint("failed ", status))
			o.ends()
		})
	}
}

// Nobody answers: the server takes the call back, and hangs up a telephone that answers at this moment.
func TestCallOutRingsForTooLong(t *testing.T) {
	for _, answers := range []int{487, 200} {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			t.Parallel()
			o := dials(t, 3*time.Second)
			invite := o.p.request("INVITE")
			o.p.says(invite, 180, "")
			cancel := o.p.request("CANCEL")
			o.g.Expect(cancel.Via().Value()).To(Equal(invite.Via().Value()))
			o.hears("ringing 180", "no_answer 0")
			o.p.says(cancel, 200, "")
			o.p.says(invite, answers, offer)
			o.p.request("ACK")
			if answers == 200 {
				o.p.says(o.p.request("BYE"), 200, "")
			}
			o.ends()
		})
	}
}

// A call that is hung up before the trunk has said anything is taken back with the first answer.
func TestCallOutIsHungUp(t *testing.T) {
	t.Parallel()
	o := dials(t, time.Minute)
	invite := o.p.request("INVITE")
	o.line.call.HangUp()
	o.hears("canceled 0")
	o.p.says(invite, 180, "")
	o.p.says(o.p.request("CANCEL"), 200, "")
	o.p.says(invite, 487, "")
	o.p.request("ACK")
	o.ends()
}

// A call holds its place at the trunk until it is over, and the server that closes takes it back.
func TestCallOutHoldsItsPlace(t *testing.T) {
	t.Parallel()
	o := dials(t, time.Minute)
	invite := o.p.request("INVITE")
	o.p.says(invite, 180, "")
	o.hears("ringing 180")
	first := *o
	o.places(time.Minute)
	o.hears("failed 0")
	o.g.Eventually(o.over, patience).Should(BeClosed())
	closed := make(chan struct{})
	go func() { _ = o.s.Close(); close(closed) }()
	o.p.says(o.p.request("CANCEL"), 200, "")
	o.p.says(invite, 487, "")
	first.hears("canceled 0")
	o.g.Eventually(closed, patience).Should(BeClosed())
	first.ends()
}

// An answer that this server cannot use ends the call, on the telephone's side, too.
func TestCallOutWithoutSound(t *testing.T) {
	for name, body := range map[string]string{"none": "", "fax": strings.Replace(offer, "8 0 101", "18", 1), "nonsense": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := dials(t, time.Minute)
			o.p.says(o.p.request("INVITE"), 200, body)
			o.p.request("ACK")
			o.p.says(o.p.request("BYE"), 200, "")
			o.hears("failed 200")
			o.ends()
		})
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for want, o := range map[string]Out{
		"a:5060": {Proxy: "a"}, "b:5061": {Proxy: "b", Transport: TLS}, "c:5060": {Proxy: "c", Transport: TCP}, "d:7": {Proxy: "d:7", Transport: TLS}, "[::1]:5061": {Proxy: "[::1]", Transport: TLS},
	} {
		g.Expect(o.proxy()).To(Equal(want))
		o.From = "1"
		c, err := (&Server{cfg: Config{Trunks: []Trunk{{Name: "provider", Out: &o}}}}).Dial("provider", "+49301")
		g.Expect(err).NotTo(HaveOccurred())
		port := map[bool]int{true: 7}[want == "d:7"]
		g.Expect(c.invite.Recipient.Port).To(Equal(port), "the request names a port only where the configuration does: %s", want)
	}
}

func TestWrongOut(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	here := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	for wrong, trunk := range map[string]Trunk{
		"want a host":          {Name: "a", Networks: here, Out: &Out{From: "1"}},
		"from is missing":      {Name: "a", Networks: here, Out: &Out{Proxy: "a"}},
		"want a number":        {Name: "a", Networks: here, Out: &Out{Proxy: "a", From: "1>\r\nX: y"}},
		"want udp, tcp or tls": {Name: "a", Networks: here, Out: &Out{Proxy: "a", From: "1", Transport: "SCTP"}},
		"srtp needs":           {Name: "a", Networks: here, Out: &Out{Proxy: "a", From: "1", Transport: TCP, Secure: true}},
		"ca_file needs":        {Name: "a", Networks: here, Out: &Out{Proxy: "a", From: "1", Roots: x509.NewCertPool()}},
		"provider's addresses": {Name: "a", User: "a", Password: "b", Out: &Out{Proxy: "a", From: "1"}},
	} {
		g.Expect(Check([]Trunk{trunk})).To(MatchError(ContainSubstring(wrong)))
	}
	_, err := dials(t, time.Minute).s.Dial("another", "1")
	g.Expect(err).To(MatchError(ContainSubstring("no calls go out")))
}
