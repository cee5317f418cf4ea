// Package outbound opens connections to the servers of trunks, and gives them to the SIP stack as if they had come in: the stack opens none itself.
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// maxLines is how many connections there are at a time. The servers of the trunks have few addresses.
const maxLines = 256

// Lines are connections to trunks, all with TLS or all without, one for each address. It is a net.Listener for the stack. Connect is safe for concurrent use.
type Lines struct {
	come   chan net.Conn
	taken  chan struct{} // the stack has what came
	closed chan struct{}
	once   sync.Once
	came   bool // Accept has returned a connection; one goroutine accepts

	mu    sync.Mutex
	lines map[netip.AddrPort]*line
}

// line is the way to one address.
type line struct {
	busy chan struct{} // has an element while somebody connects

	// Under mu of Lines.
	users int   // calls of Connect
	conn  *conn // nil before the first
}

// used reports whether there is a connection, or soon will be. The caller holds mu of Lines.
func (o *line) used() bool { return o.users > 0 || o.conn != nil && !o.conn.isClosed() }

// New returns Lines without connections.
func New() *Lines {
	return &Lines{come: make(chan net.Conn), taken: make(chan struct{}), closed: make(chan struct{}), lines: map[netip.AddrPort]*line{}}
}

// Accept implements net.Listener. When it is called again, the stack has taken the connection before.
func (l *Lines) Accept() (net.Conn, error) {
	if l.came {
		select {
		case l.taken <- struct{}{}:
		case <-l.closed:
		}
	}
	select {
	case c := <-l.come:
		l.came = true
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. The stack closes the connections.
func (l *Lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener. Nobody connects there.
func (l *Lines) Addr() net.Addr { return &net.TCPAddr{} }

// enter returns the line to an address. The caller leaves it.
func (l *Lines) enter(at netip.AddrPort) (*line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.lines[at]
	if one == nil {
		if len(l.lines) == maxLines {
			maps.DeleteFunc(l.lines, func(_ netip.AddrPort, o *line) bool { return !o.used() })
		}
		if len(l.lines) == maxLines {
			return nil, errors.New("the trunks have too many addresses")
		}
		one = &line{busy: make(chan struct{}, 1)}
		l.lines[at] = one
	}
	one.users++
	return one, nil
}

func (l *Lines) leave(one *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.users--
}

// Has reports whether there is a connection to an address, or soon will be. Nobody else has one from there: the stack would take it for this one.
func (l *Lines) Has(at netip.AddrPort) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.lines[at]
	return one != nil && one.used()
}

// Silent closes the connection to an address if nothing has come over it since a time. A firewall may have dropped it: then writes succeed for minutes.
func (l *Lines) Silent(at netip.AddrPort, since time.Time) {
	l.mu.Lock()
	var c *conn
	if one := l.lines[at]; one != nil {
		c = one.conn
	}
	l.mu.Unlock()
	if c != nil && !c.heard.Load().After(since) {
		_ = c.Close() // the reader hears of it
	}
}

// Connect returns when the stack has a connection to an address: the one that there is, or a new one. secure is for TLS, and nil for TCP. pay is told how many bytes came
// in; it returns how long to wait, and is asked again then, until it returns 0.
func (l *Lines) Connect(ctx context.Context, to netip.AddrPort, secure *tls.Config, pay func(n int) time.Duration) error {
	one, err := l.enter(to)
	if err != nil {
		return err
	}
	defer l.leave(one)
	select {
	case one.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-one.busy }()
	if c := one.conn; c != nil && !c.isClosed() { // who connects changes it
		return c.isFor(secure)
	}
	c, top, err := open(ctx, to, secure, pay)
	if err != nil {
		return err
	}
	select {
	case l.come <- top:
	case <-l.closed:
		_ = c.Close() // nobody has it
		return net.ErrClosed
	}
	select {
	case <-l.taken:
	case <-l.closed:
		return net.ErrClosed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one.conn = c
	return nil
}

// open opens a connection. top is what the stack reads.
func open(ctx context.Context, to netip.AddrPort, secure *tls.Config, pay func(n int) time.Duration) (c *conn, top net.Conn, err error) {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, nil, err
	}
	c = &conn{Conn: raw, pay: pay, closed: make(chan struct{})}
	c.hears()
	if secure == nil {
		return c, c, nil
	}
	s := &safe{tls.Client(c, secure), c}
	if err := s.HandshakeContext(ctx); err != nil {
		_ = c.Close() // nobody has it
		return nil, nil, fmt.Errorf("no TLS with %s: %w", secure.ServerName, err)
	}
	c.secure, c.shown = secure, s.ConnectionState().PeerCertificates
	return c, s, nil
}

// isFor returns an error if the certificate of a connection that was opened for another host, or with other roots, is not good for these.
func (c *conn) isFor(secure *tls.Config) error {
	if secure == nil || c.secure.ServerName == secure.ServerName && c.secure.RootCAs.Equal(secure.RootCAs) {
		return nil
	}
	others := x509.NewCertPool()
	for _, o := range c.shown[1:] {
		others.AddCert(o)
	}
	if _, err := c.shown[0].Verify(x509.VerifyOptions{DNSName: secure.ServerName, Roots: secure.RootCAs, Intermediates: others}); err != nil {
		return fmt.Errorf("two trunks reach %s, as %s and as %s, and its certificate is not good for both: give them one server and one ca_file: %w", c.RemoteAddr(), c.secure.ServerName, secure.ServerName, err)
	}
	return nil
}

// safe is a connection with TLS.
type safe struct {
	*tls.Conn
	of *conn
}

// Read implements net.Conn.
func (s *safe) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if err != nil {
		s.of.end() // the other side may have ended TLS, and not the connection
	}
	return n, err
}

// Close implements net.Conn.
func (s *safe) Close() error {
	s.of.end() // Close waits until the other side takes the end of TLS
	return s.Conn.Close()
}

// conn is a connection with bounds.
type conn struct {
	net.Conn
	pay    func(n int) time.Duration
	out    Writer
	heard  atomic.Pointer[time.Time] // when something came last
	once   sync.Once
	closed chan struct{}

	// Of a connection with TLS: what it was opened for, and the certificates of the other side.
	secure *tls.Config
	shown  []*x509.Certificate
}

func (c *conn) hears() {
	now := time.Now()
	c.heard.Store(&now)
}

// end notes that the stack has no use for the connection: it takes a connection that cannot be read out of its pool before it closes it.
func (c *conn) end() { c.once.Do(func() { close(c.closed) }) }

func (c *conn) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// Read implements net.Conn. It waits until the trunk may have sent so much.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.end()
	} else {
		c.hears()
	}
	for wait := c.pay(n); wait > 0; wait = c.pay(n) {
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-c.closed:
			again.Stop()
			return n, err
		}
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	return c.out.Write(c.Conn, b, c.Close)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.end()
	return c.Conn.Close()
}
