// Package limited limits the TCP connections that strangers may hold open, in all and for each of their addresses.
package limited

import (
	"net"
	"net/netip"
	"sync"
)

// Listener accepts connections up to a limit and closes further ones. Make it with New.
type Listener struct {
	net.Listener
	all, each int

	mu    sync.Mutex
	open  int
	hosts map[string]int // open connections by Client
}

// New returns a listener with at most so many connections at a time in all, and from each client.
func New(l net.Listener, all, each int) *Listener {
	return &Listener{Listener: l, all: all, each: each, hosts: map[string]int{}}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := Client(c.RemoteAddr())
		if l.take(host) {
			return &conn{Conn: c, close: sync.OnceFunc(func() { l.give(host) })}, nil
		}
		_ = c.Close() // there is no room for it
	}
}

func (l *Listener) take(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.all || l.hosts[host] >= l.each {
		return false
	}
	l.open++
	l.hosts[host]++
	return true
}

func (l *Listener) give(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
}

// conn gives its place back when it closes.
type conn struct {
	net.Conn
	close func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.close()
	return c.Conn.Close()
}

// Client returns what counts as one client of an address: its IPv4 address, or the network of 64 bits of its IPv6 address, because one host can use all addresses of
// its network.
func Client(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	host := at.Addr().Unmap().WithZone("")
	if host.Is6() {
		return netip.PrefixFrom(host, 64).Masked().String()
	}
	return host.String()
}
