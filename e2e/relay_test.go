package e2e

// A relay for packets and an HTTP client with which a test can break a network.

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// relay is a path between one caller and the server that can be cut. It is also the RoundTripper with which the caller places the call.
type relay struct{ *rig.Path }

func newRelay(t *testing.T) *relay {
	t.Helper()
	p, err := rig.NewPath()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = p.Close() }) // its sockets are open
	return &relay{p}
}

// RoundTrip implements http.RoundTripper.
func (r *relay) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if err := rig.Route(answer, func() (*rig.Path, error) { return r.Path, nil }); err != nil {
		return nil, err
	}
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
