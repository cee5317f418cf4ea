package sip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
	. "github.com/onsi/gomega"
)

// The kit of the tests: a server on loopback, and a telephone that sends what the test writes.

// line is a Line that notes what happens.
type line struct {
	begun  chan struct{}
	ended  chan error
	digits chan byte
	audio  chan []int16
	held   atomic.Bool
	call   *Call
}

func newLine(c *Call) *line {
	return &line{begun: make(chan struct{}, 1), ended: make(chan error, 4), digits: make(chan byte, 64), audio: make(chan []int16, 512), call: c}
}

func (l *line) Begin()       { l.begun <- struct{}{} }
func (l *line) Digit(d byte) { l.digits <- d }
func (l *line) Hold(on bool) { l.held.Store(on) }
func (l *line) Missing(int)  {}
func (l *line) Audio(pcm []int16) {
	select {
	case l.audio <- append([]int16(nil), pcm...):
	default:
	}
}

func (l *line) Ended(err error) {
	l.ended <- err
	go l.call.HangUp()
}

// accepting is a server that accepts every call. lines gets the line of each.
func accepting(t *testing.T, cfg Config) (s *Server, lines chan *line) {
	t.Helper()
	lines = make(chan *line, 64)
	cfg.Ring = func(_ context.Context, c *Call) {
		l := newLine(c)
		lines <- l
		_ = c.Accept(l) // l hears of an error
	}
	return serving(t, cfg), lines
}

func serving(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Listen, cfg.Logger = "127.0.0.1:0", slog.New(slog.DiscardHandler)
	if cfg.Trunks == nil {
		cfg.Trunks = []Trunk{{Name: "local", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}}
	}
	s, err := New(cfg)
	for range 9 { // another test may have the TCP port of the same number
		if errors.Is(err, syscall.EADDRINUSE) {
			s, err = New(cfg)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// telephone sends messages to a server and reads what comes back.
type telephone struct {
	g    *WithT
	conn *net.UDPConn
	to   netip.AddrPort
	id   string
	tag  string // of the server, from its answers
	cseq int
}

func newTelephone(t *testing.T, s *Server) *telephone {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &telephone{g: NewWithT(t), conn: conn, to: s.Address(), id: newID(), cseq: 1}
}

// message returns a request of the telephone. extra are further header lines.
func (p *telephone) message(method, body string, extra ...string) string {
	me := p.conn.LocalAddr()
	to := "<sip:4930123@127.0.0.1>"
	if p.tag != "" {
		to += ";tag=" + p.tag
	}
	lines := []string{
		method + " sip:4930123@" + p.to.String() + " SIP/2.0",
		fmt.Sprintf("Via: SIP/2.0/UDP %s;rport;branch=z9hG4bK%s%s%d", me, p.id, method, p.cseq),
		"Max-Forwards: 70",
		"From: <sip:caller@127.0.0.1>;tag=their-tag",
		"To: " + to,
		"Call-ID: " + p.id,
		fmt.Sprintf("CSeq: %d %s", p.cseq, method),
		fmt.Sprintf("Contact: <sip:caller@%s>", me),
	}
	lines = append(lines, extra...)
	if body != "" && !strings.Contains(strings.Join(extra, "\n"), "Content-Type") {
		lines = append(lines, "Content-Type: application/sdp")
	}
	return strings.Join(append(lines, fmt.Sprintf("Content-Length: %d", len(body)), "", body), "\r\n")
}

func (p *telephone) send(text string) {
	_, err := p.conn.WriteToUDPAddrPort([]byte(text), p.to)
	p.g.Expect(err).NotTo(HaveOccurred())
}

// patience is how long a telephone waits for an answer.
const patience = 10 * time.Second

// next returns the next message of the server.
func (p *telephone) next() sip.Message {
	buf := make([]byte, 64<<10)
	p.g.Expect(p.conn.SetReadDeadline(time.Now().Add(patience))).To(Succeed())
	n, err := p.conn.Read(buf)
	p.g.Expect(err).NotTo(HaveOccurred())
	if len(strings.TrimSpace(string(buf[:n]))) == 0 {
		return p.next() // it keeps a router's port open
	}
	m, err := sip.ParseMessage(buf[:n])
	p.g.Expect(err).NotTo(HaveOccurred())
	return m
}

// answer returns the server's next final answer.
func (p *telephone) answer() *sip.Response {
	for {
		if res, ok := p.next().(*sip.Response); ok && res.StatusCode >= 200 {
			if tag, has := res.To().Params.Get("tag"); has && res.StatusCode < 300 {
				p.tag = tag
			}
			return res
		}
	}
}

// request returns the server's next request, of this method.
func (p *telephone) request(method string) *sip.Request {
	for {
		if r, ok := p.next().(*sip.Request); ok && string(r.Method) == method {
			return r
		}
	}
}

// ask sends a request and returns the final answer to it.
func (p *telephone) ask(method, body string, extra ...string) *sip.Response {
	p.send(p.message(method, body, extra...))
	for {
		if res := p.answer(); res.CSeq().SeqNo == uint32(p.cseq) { // else it is a repeated answer to a request before
			return res
		}
	}
}

// ack confirms the answer to the last INVITE.
func (p *telephone) ack(body string) { p.send(p.message("ACK", body)) }

// call calls, confirms the answer, and returns the line.
func (p *telephone) call(lines chan *line) *line {
	res := p.ask("INVITE", offer)
	p.g.Expect(res.StatusCode).To(Equal(200))
	p.ack("")
	var l *line
	p.g.Eventually(lines, patience).Should(Receive(&l))
	p.g.Eventually(l.begun, patience).Should(Receive())
	return l
}

// offer is the description of a telephone with both laws of G.711 and keys.
const offer = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 8 0 101\r\na=rtpmap:101 telephone-event/8000\r\n"
