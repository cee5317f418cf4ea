package relay

import (
	"net"
	"sync"
	"time"
)

// The connections over TCP: one that has no allocation or is silent for long is closed, and all are closed with the server.

const (
	// firstTimeout is how long a connection over TCP may take for its allocation, and for each write later. idleTimeout is how long it may be silent later: as long
	// as an allocation lives that its client does not refresh (RFC 8656 section 3.2).
	firstTimeout, idleTimeout = 10 * time.Second, 10 * time.Minute
)

// patient is a listener whose connections have time limits. Its Close closes them, because pion's server does not.
type patient struct {
	net.Listener
	first time.Duration
	used  func(net.Addr) bool // whether the client at an address has an allocation

	mu     sync.Mutex
	closed bool
	conns  map[*patientConn]struct{}
}

// within returns a listener whose connections have this time until they are used; 0 takes firstTimeout.
func within(l net.Listener, first time.Duration, used func(net.Addr) bool) *patient {
	if first == 0 {
		first = firstTimeout
	}
	return &patient{Listener: l, first: first, used: used, conns: map[*patientConn]struct{}{}}
}

// The methods of net.Listener.
func (l *patient) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &patientConn{Conn: inner, until: time.Now().Add(l.first), of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = inner.Close() // nobody serves it any more
		return nil, net.ErrClosed
	}
	l.conns[c] = struct{}{}
	return c, nil
}

func (l *patient) Close() error {
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		_ = c.Conn.Close() // its client may have closed it
	}
	l.mu.Unlock()
	return l.Listener.Close()
}

// patientConn is a connection that fails if its client has no allocation in time, or is silent for long. One goroutine reads it.
type patientConn struct {
	net.Conn
	until time.Time // for a client without an allocation
	of    *patient
}

// Read implements net.Conn.
func (c *patientConn) Read(b []byte) (int, error) {
	until := c.until
	if c.of.used(c.RemoteAddr()) {
		until = time.Now().Add(idleTimeout)
	}
	if err := c.SetReadDeadline(until); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write implements net.Conn. A client that does not read loses its connection.
func (c *patientConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.of.first)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if err != nil {
		_ = c.Conn.Close() // half of a message may be written: Read reports the end
	}
	return n, err
}

// Close implements net.Conn.
func (c *patientConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
