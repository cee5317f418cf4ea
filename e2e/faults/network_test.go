//go:build linux

package faults

// Networks that can be cut: an HTTP client whose connections break, and a relay for the packets of WebRTC.

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// network is the network of one good caller. Its TCP connections can be reset. Its packets of WebRTC take one path, which can end; an
// ICE restart or another call gets a new path.
type network struct {
	http.Transport
	mu    sync.Mutex
	conns []net.Conn
	paths []path
}

func newNetwork() *network {
	n := &network{}
	n.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.conns = append(n.conns, c)
		}
		return c, err
	}
	return n
}

// cut resets the TCP connections and ends the path.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		if tcp, is := c.(*net.TCPConn); is {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
	n.conns = nil
	for i := range n.paths {
		n.paths[i].cut = true
		n.paths[i].Block(true)
	}
}

// block drops all packets of the present path until it is called with false. A path that was cut stays cut.
func (n *network) block(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.paths {
		p.Block(on || p.cut)
	}
}

// close ends everything.
func (n *network) close() {
	n.cut()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.paths {
		_ = p.Close() // its sockets are open
	}
}

// RoundTrip implements http.RoundTripper. It leads each call over a new path.
func (n *network) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := n.Transport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if err := rig.Route(r, n.newPath); err != nil {
		return nil, err
	}
	return r, nil
}

// newPath opens a path for one call.
func (n *network) newPath() (*rig.Path, error) {
	p, err := rig.NewPath()
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paths = append(n.paths, path{Path: p})
	return p, nil
}

// path is the path of one call. A path that was cut stays cut.
type path struct {
	*rig.Path
	cut bool
}
