package rig

// A path for the packets of one WebRTC call between native client and server, which a test can block.

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Path forwards packets between a client and the server on this machine. Safe for concurrent use. Close it.
type Path struct {
	front, back    *net.UDPConn // the client sends to front, the server to back
	client, server atomic.Pointer[net.UDPAddr]
	blocked        atomic.Bool
	done           sync.WaitGroup
}

// NewPath opens a path. It has no server until Route gives it one.
func NewPath() (*Path, error) {
	local := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	p := &Path{}
	var err error
	if p.front, err = net.ListenUDP("udp4", local); err != nil {
		return nil, err
	}
	if p.back, err = net.ListenUDP("udp4", local); err != nil {
		return nil, errors.Join(err, p.front.Close())
	}
	p.done.Go(func() { p.forward(p.front, p.back, &p.client, &p.server) })
	p.done.Go(func() { p.forward(p.back, p.front, nil, &p.client) })
	return p, nil
}

// forward forwards packets from one socket to the other. It notes the sender's address if sender is not nil.
func (p *Path) forward(from, to *net.UDPConn, sender, receiver *atomic.Pointer[net.UDPAddr]) {
	buf := make([]byte, 1<<16)
	for {
		n, addr, err := from.ReadFromUDP(buf)
		if err != nil {
			return
		}
		if sender != nil {
			sender.Store(addr)
		}
		if target := receiver.Load(); target != nil && !p.blocked.Load() {
			_, _ = to.WriteToUDP(buf[:n], target) // a packet that cannot be sent is lost
		}
	}
}

// Block drops all packets until it is called with false.
func (p *Path) Block(on bool) { p.blocked.Store(on) }

func (p *Path) Blocked() bool { return p.blocked.Load() }

func (p *Path) Close() error {
	err := errors.Join(p.front.Close(), p.back.Close())
	p.done.Wait()
	return err
}

// serverAddress matches a line of SDP with an address of the server.
var serverAddress = regexp.MustCompile(`(?m)^a=candidate:(\S+ 1 udp \d+) (127\.0\.0\.1) (\d+) typ host.*\r\n`)

// Route puts the address of a path in place of the server's addresses in the answer of a call. open returns the path. An answer without SDP
// stays as it is.
func Route(answer *http.Response, open func() (*Path, error)) error {
	return reroute(answer, func(server *net.UDPAddr) (*net.UDPConn, error) {
		p, err := open()
		if err != nil {
			return nil, err
		}
		p.server.Store(server)
		return p.front, nil
	})
}

// reroute puts the address of the socket that before returns in place of the server's addresses in the answer of a call. An answer without SDP stays as it is.
func reroute(answer *http.Response, before func(server *net.UDPAddr) (*net.UDPConn, error)) error {
	if answer.Header.Get("Content-Type") != "application/sdp" {
		return nil
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return err
	}
	own := serverAddress.FindStringSubmatch(string(text))
	if own == nil {
		return fmt.Errorf("no address of the server in %s", text)
	}
	server, err := net.ResolveUDPAddr("udp4", own[2]+":"+own[3])
	if err != nil {
		return err
	}
	front, err := before(server)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for line := range strings.SplitAfterSeq(string(text), "\r\n") {
		switch {
		case line == own[0]:
			fmt.Fprintf(&lines, "a=candidate:%s 127.0.0.1 %d typ host\r\n", own[1], front.LocalAddr().(*net.UDPAddr).Port)
		case !strings.HasPrefix(line, "a=candidate:"):
			lines.WriteString(line)
		}
	}
	answer.Body = io.NopCloser(strings.NewReader(lines.String()))
	answer.ContentLength = int64(lines.Len())
	answer.Header.Set("Content-Length", strconv.Itoa(lines.Len()))
	return nil
}
