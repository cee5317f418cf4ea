//go:build linux

package faults

// Networks that can be cut: an HTTP client whose connections break, and a relay for the packets of WebRTC.

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
)

// network is the network of one good caller. Its TCP connections can be reset. Its packets of WebRTC take one path, which can end; an
// ICE restart or another call gets a new path.
type network struct {
	http.Transport
	mu    sync.Mutex
	conns []net.Conn
	paths []*path
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
	for _, p := range n.paths {
		p.cut.Store(true)
	}
}

// block drops all packets of the present path until it is called with false. A path that was cut stays cut.
func (n *network) block(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.paths {
		p.blocked.Store(on)
	}
}

// close ends everything.
func (n *network) close() {
	n.cut()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.paths {
		p.close()
	}
}

// candidate matches a line of SDP with an address of the server.
var candidate = regexp.MustCompile(`(?m)^a=candidate:(\S+ 1 udp \d+) (127\.0\.0\.1) (\d+) typ host.*\r\n`)

// RoundTrip implements http.RoundTripper. It puts the address of a new path in place of the server's in the SDP.
func (n *network) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := n.Transport.RoundTrip(q)
	if err != nil || r.Header.Get("Content-Type") != "application/sdp" {
		return r, err
	}
	text, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	own := candidate.FindStringSubmatch(string(text))
	if own == nil {
		return nil, fmt.Errorf("no address of the server in %s", text)
	}
	p, err := newPath(own[2] + ":" + own[3])
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.paths = append(n.paths, p)
	n.mu.Unlock()
	var lines strings.Builder
	for line := range strings.SplitAfterSeq(string(text), "\r\n") {
		switch {
		case line == own[0]:
			fmt.Fprintf(&lines, "a=candidate:%s 127.0.0.1 %d typ host\r\n", own[1], p.front.LocalAddr().(*net.UDPAddr).Port)
		case !strings.HasPrefix(line, "a=candidate:"):
			lines.WriteString(line)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader([]byte(lines.String())))
	r.ContentLength = int64(lines.Len())
	return r, nil
}

// path forwards packets between a caller and the server until it is cut.
type path struct {
	front, back *net.UDPConn
	server      *net.UDPAddr
	caller      atomic.Pointer[net.UDPAddr]
	cut         atomic.Bool // for good
	blocked     atomic.Bool // for a while
	done        sync.WaitGroup
}

func newPath(server string) (*path, error) {
	to, err := net.ResolveUDPAddr("udp4", server)
	if err != nil {
		return nil, err
	}
	p := &path{server: to}
	local := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	if p.front, err = net.ListenUDP("udp4", local); err != nil {
		return nil, err
	}
	if p.back, err = net.ListenUDP("udp4", local); err != nil {
		_ = p.front.Close()
		return nil, err
	}
	p.done.Go(func() {
		p.forward(p.front, p.back, func(from *net.UDPAddr) *net.UDPAddr {
			p.caller.Store(from)
			return p.server
		})
	})
	p.done.Go(func() { p.forward(p.back, p.front, func(*net.UDPAddr) *net.UDPAddr { return p.caller.Load() }) })
	return p, nil
}

// forward forwards packets from one socket to the other.
func (p *path) forward(from, to *net.UDPConn, target func(sender *net.UDPAddr) *net.UDPAddr) {
	buf := make([]byte, 1<<16)
	for {
		n, sender, err := from.ReadFromUDP(buf)
		if err != nil {
			return
		}
		if addr := target(sender); addr != nil && !p.cut.Load() && !p.blocked.Load() {
			_, _ = to.WriteToUDP(buf[:n], addr) // a packet that cannot be sent is lost
		}
	}
}

func (p *path) close() {
	_ = p.front.Close()
	_ = p.back.Close()
	p.done.Wait()
}
