package sip

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

func TestCallFromTheInviteToTheBye(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	res := p.ask("INVITE", offer)
	g.Expect(res.StatusCode).To(Equal(200))
	g.Expect(string(res.Body())).To(ContainSubstring(" RTP/AVP 8 101\r\n"))
	g.Expect(res.Contact().Address.Port).To(Equal(int(s.Address().Port())))
	p.ack("")
	l := <-lines
	g.Eventually(l.begun).Should(Receive())
	p.cseq++
	g.Expect(p.ask("BYE", "").StatusCode).To(Equal(200))
	var why error
	g.Eventually(l.ended).Should(Receive(&why))
	g.Expect(why).To(MatchError(link.ErrHungUp))
	g.Eventually(func() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.calls) + s.busy["local"] }).Should(BeZero())
}

func TestServerHangsUp(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	l := p.call(lines)
	done := make(chan struct{})
	go func() { l.call.HangUp(); close(done) }()
	bye := p.request("BYE")
	p.send("SIP/2.0 200 OK\r\nVia: " + bye.Via().Value() + "\r\nFrom: " + bye.From().Value() + "\r\nTo: " + bye.To().Value() +
		"\r\nCall-ID: " + bye.CallID().Value() + "\r\nCSeq: " + bye.CSeq().Value() + "\r\nContent-Length: 0\r\n\r\n")
	g.Eventually(done).Should(BeClosed())
}

// A telephone that says nothing to the BYE holds up nobody.
func TestByeIsBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	l := newTelephone(t, s).call(lines)
	done := make(chan struct{})
	go func() { l.call.HangUp(); close(done) }()
	g.Eventually(done, 2*endsWithin).Should(BeClosed())
}

func TestCallIsRejectedOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	second := make(chan error, 1)
	s := serving(t, Config{Ring: func(_ context.Context, c *Call) {
		go func() { _ = c.Reject(486) }()
		g.Eventually(func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.decided }).Should(BeTrue())
		second <- c.Accept(newLine(c))
	}})
	p := newTelephone(t, s)
	g.Expect(p.ask("INVITE", offer).StatusCode).To(Equal(486))
	g.Eventually(second).Should(Receive(MatchError(ErrDecided)))
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	gone := make(chan struct{})
	s := serving(t, Config{Ring: func(ctx context.Context, c *Call) {
		<-ctx.Done()
		g.Expect(c.Accept(newLine(c))).To(MatchError(ErrDecided))
		close(gone)
	}})
	p := newTelephone(t, s)
	p.send(p.message("INVITE", offer))
	for !strings.Contains(p.next().String(), "180 Ringing") {
	}
	cancel := strings.Replace(p.message("CANCEL", ""), "CANCEL1", "INVITE1", 1)
	p.send(cancel)
	g.Eventually(gone).Should(BeClosed())
	g.Expect([]int{p.answer().StatusCode, p.answer().StatusCode}).To(ConsistOf(200, 487))
}

func TestLateOffer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	res := p.ask("INVITE", "")
	g.Expect(string(res.Body())).To(ContainSubstring("m=audio"))
	p.ack(offer)
	l := <-lines
	g.Eventually(l.begun).Should(Receive())
	g.Expect(l.call.stream.Held()).To(BeFalse())
}

func TestHoldAndResume(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	l := p.call(lines)
	p.cseq++
	res := p.ask("INVITE", offer+"a=sendonly\r\n")
	g.Expect(string(res.Body())).To(ContainSubstring("a=recvonly"))
	p.ack("")
	g.Expect(l.held.Load()).To(BeTrue())
	p.cseq++
	g.Expect(string(p.ask("UPDATE", offer).Body())).To(ContainSubstring("a=sendrecv"))
	g.Expect(l.held.Load()).To(BeFalse())
	p.cseq++
	g.Expect(p.ask("INVITE", "v=0\r\n").StatusCode).To(Equal(488))
	g.Expect(l.held.Load()).To(BeFalse(), "a refused change changes nothing")
}

// A change that comes before the one before is confirmed takes its place: only the last answer is repeated.
func TestChangesThatNobodyConfirms(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	p.call(lines)
	for range 2 {
		p.cseq++
		g.Expect(p.ask("INVITE", offer).StatusCode).To(Equal(200))
	}
	for last := 0; last < 2; {
		if p.answer().CSeq().SeqNo == uint32(p.cseq) {
			last++
			continue
		}
		g.Expect(last).To(BeZero(), "the answer to the first change may be on its way when the second one comes")
	}
}

func TestKeysByInfo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	l := p.call(lines)
	for _, m := range []struct{ kind, body string }{
		{"application/dtmf-relay", "Signal=5\r\nDuration=160\r\n"},
		{"application/dtmf", "#"},
		{"application/dtmf-relay", "Signal=55\r\n"},
		{"text/plain", "7"},
	} {
		p.cseq++
		g.Expect(p.ask("INFO", m.body, "Content-Type: "+m.kind).StatusCode).To(Equal(200))
	}
	g.Expect(string([]byte{<-l.digits, <-l.digits})).To(Equal("5#"))
	g.Expect(l.digits).To(BeEmpty())
}

func TestSessionTimer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, _ := accepting(t, Config{})
	p := newTelephone(t, s)
	short := p.ask("INVITE", offer, "Supported: timer", "Session-Expires: 60")
	g.Expect(short.StatusCode).To(Equal(422))
	g.Expect(short.GetHeader("Min-SE").Value()).To(Equal("90"))
	q := newTelephone(t, s)
	res := q.ask("INVITE", offer, "Supported: timer", "Session-Expires: 1800")
	g.Expect(res.GetHeader("Session-Expires").Value()).To(Equal("1800;refresher=uac"))
}

func TestWhatAnInviteMayNotWant(t *testing.T) {
	s, _ := accepting(t, Config{})
	for name, c := range map[string]struct {
		body, extra string
		status      int
	}{
		"an extension":      {offer, "Require: 100rel", 420},
		"no audio":          {"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n", "", 488},
		"1000 media lines":  {offer + strings.Repeat("m=audio 4000 RTP/AVP 0\r\n", 1000), "", 488},
		"a codec of nobody": {strings.Replace(offer, "RTP/AVP 8 0 101", "RTP/AVP 18", 1), "", 488},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTelephone(t, s)
			NewWithT(t).Expect(p.ask("INVITE", c.body, headers(c.extra)...).StatusCode).To(Equal(c.status))
		})
	}
}

func TestTrunkHasAsManyCallsAsItMay(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	trunk := Trunk{Name: "small", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Calls: 1}
	s, lines := accepting(t, Config{Trunks: []Trunk{trunk}})
	newTelephone(t, s).call(lines)
	g.Expect(newTelephone(t, s).ask("INVITE", offer).StatusCode).To(Equal(486))
}

// A stranger cannot end a call: it does not know the tags.
func TestByeOfAStranger(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	l := p.call(lines)
	stranger := newTelephone(t, s)
	stranger.id, stranger.tag = p.id, "guessed"
	g.Expect(stranger.ask("BYE", "").StatusCode).To(Equal(481))
	g.Expect(l.ended).To(BeEmpty())
}

// Who knows the tags of a call, and is not of its trunk, cannot end it either: over TCP it is asked for credentials.
func TestByeFromOutsideOfTheTrunk(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{Trunks: []Trunk{
		{Name: "local", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
		{Name: "other", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}},
	}})
	p := newTelephone(t, s)
	l := p.call(lines)
	for from, status := range map[string]string{"127.0.0.2": "481", "127.0.0.3": "401"} {
		p.cseq++
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.DialContext(t.Context(), "tcp", s.Address().String())
		g.Expect(err).NotTo(HaveOccurred())
		_, err = io.WriteString(conn, strings.Replace(p.message("BYE", ""), "SIP/2.0/UDP", "SIP/2.0/TCP", 1))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(conn.SetReadDeadline(time.Now().Add(patience))).To(Succeed())
		answer, err := bufio.NewReader(conn).ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer).To(ContainSubstring(status), from)
		g.Expect(conn.Close()).To(Succeed())
	}
	g.Expect(l.ended).To(BeEmpty())
}

// headers returns the header lines of a text: one, or none.
func headers(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// The answer comes again until the caller confirms it.
func TestLostAck(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s, lines := accepting(t, Config{})
	p := newTelephone(t, s)
	first := p.ask("INVITE", offer)
	g.Expect(p.answer().String()).To(Equal(first.String()))
	p.ack("")
	g.Eventually((<-lines).begun, patience).Should(Receive())
}

// A call that rings does not hold up the end of the server.
func TestServerClosesWhileACallRings(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serving(t, Config{Ring: func(ctx context.Context, _ *Call) { <-ctx.Done() }})
	p := newTelephone(t, s)
	p.send(p.message("INVITE", offer))
	for !strings.Contains(p.next().String(), "180 Ringing") {
	}
	closed := make(chan struct{})
	go func() { _ = s.Close(); close(closed) }()
	g.Eventually(closed, patience).Should(BeClosed())
	g.Expect(p.answer().StatusCode).To(Equal(480))
}

// The wait for the confirmation of a change may begin after that of a newer one, because each is in a goroutine of its own.
func TestOlderChangesDoNotReplaceNewerOnes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	c := &Call{}
	first := c.replace(1)
	third := c.replace(3)
	g.Expect(first).To(BeClosed())
	g.Expect(c.replace(2)).To(BeClosed())
	g.Expect(third).NotTo(BeClosed())
}
