package e2e

// A relay for packets and an HTTP client with which a test can break a network.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"
)

// relay forwards the packets between one caller and the server, and can be cut. It is also the RoundTripper with which the caller places
// the call: it puts its own address in place of the server's address in the SDP.
type relay struct {
	front *net.UDPConn // the caller sends to it
	back  *net.UDPConn // the server sends to it
	cut   atomic.Bool

	mu     sync.Mutex
	caller net.Addr
	server net.Addr
	done   sync.WaitGroup
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	g := gomega.NewWithT(t)
	socket := func() *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return c
	}
	r := &relay{front: socket(), back: socket()}
	r.done.Go(func() { r.pass(r.front, r.back, &r.caller, &r.server) })
	r.done.Go(func() { r.pass(r.back, r.front, nil, &r.caller) })
	t.Cleanup(func() {
		_ = r.front.Close()
		_ = r.back.Close()
		r.done.Wait()
	})
	return r
}

// pass forwards packets from one socket to the other. It notes the sender's address for the other direction.
func (r *relay) pass(from, to *net.UDPConn, sender, receiver *net.Addr) {
	buf := make([]byte, 1<<16)
	for {
		n, addr, err := from.ReadFrom(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		if sender != nil {
			*sender = addr
		}
		target := *receiver
		r.mu.Unlock()
		if target != nil && !r.cut.Load() {
			_, _ = to.WriteTo(buf[:n], target) // a packet that cannot be sent is lost
		}
	}
}

// candidate matches a line of SDP with an address of the server.
var candidate = regexp.MustCompile(`(?m)^a=candidate:(\S+ 1 udp \d+) (127\.0\.0\.1) (\d+) typ host.*\r\n`)

// RoundTrip implements http.RoundTripper.
func (r *relay) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(q)
	if err != nil || answer.Header.Get("Content-Type") != "application/sdp" {
		return answer, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	sdp := string(text)
	own := candidate.FindStringSubmatch(sdp)
	if own == nil {
		return nil, fmt.Errorf("no address of the server in %s", sdp)
	}
	server, err := net.ResolveUDPAddr("udp4", own[2]+":"+own[3])
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.server = server
	r.mu.Unlock()
	var lines strings.Builder
	for line := range strings.SplitAfterSeq(sdp, "\r\n") {
		switch {
		case line == own[0]:
			fmt.Fprintf(&lines, "a=candidate:%s 127.0.0.1 %d typ host\r\n", own[1], r.front.LocalAddr().(*net.UDPAddr).Port)
		case !strings.HasPrefix(line, "a=candidate:"):
			lines.WriteString(line)
		}
	}
	answer.Body = io.NopCloser(bytes.NewReader([]byte(lines.String())))
	answer.ContentLength = int64(lines.Len())
	return answer, nil
}

// valve is a net.Conn that stops reading when it is closed, and goes on when it is opened again.
type valve struct {
	net.Conn
	gate *gate
}

// Read implements net.Conn.
func (v valve) Read(b []byte) (int, error) {
	v.gate.pass()
	return v.Conn.Read(b)
}

// gate blocks each caller of pass while it is closed.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil when it is open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

func (g *gate) pass() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

// wireTap makes an HTTP client whose connections can be stopped and broken.
type wireTap struct {
	gate    gate
	refuses atomic.Bool // new connections are refused
	mu      sync.Mutex
	all     []net.Conn
}

func newWireTap(t *testing.T) (*wireTap, *http.Client) {
	w := &wireTap{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.refuses.Load() {
			return nil, errNoNetwork
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, conn)
		return valve{conn, &w.gate}, nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return w, &http.Client{Transport: transport}
}

// refuse refuses new connections from now on.
func (w *wireTap) refuse() { w.refuses.Store(true) }

// tear resets all connections.
func (w *wireTap) tear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.all {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}
