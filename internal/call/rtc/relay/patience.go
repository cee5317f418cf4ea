package relay

import (
	"net"
	"sync"
	"time"
)

// The connections over TCP: one that is silent for long is closed, and all are closed with the server.

const (
	// firstTimeout is how long a connection over TCP may take for its first message, idleTimeout how long it may be silent later: as long as
	// an allocation lives that its client does not refresh (RFC 8656 section 3.2).
	firstTimeout, idleTimeout = 10 * time.Second, 10 * time.Minute
)

// patient is a listener whose connections have time limits. Its Close closes them, because pion's server does not.
type patient struct {
	net.Listener
	first time.Duration

	mu     sync.Mutex
	closed bool
	conns  map[*patientConn]struct{}
}

// within returns a listener whose connections have this time for their first message; 0 takes firstTimeout.
func within(l net.Listener, first time.Duration) *patient {
	if first == 0 {
		first = firstTimeout
	}
	return &patient{Listener: l, first: first, conns: map[*patientConn]struct{}{}}
}

// Accept implements net.Listener.
func (l *patient) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &patientConn{Conn: inner, within: l.first, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = inner.Close() // nobody serves it any more
		return nil, net.ErrClosed
	}
	l.conns[c] = struct{}{}
	return c, nil
}

// Close implements net.Listener.
func (l *patient) Close() error {
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		_ = c.Conn.Close() // its client may have closed it
	}
	l.mu.Unlock()
	return l.Listener.Close()
}

// patientConn is a connection that fails if its client is silent for long. One goroutine reads it.
type patientConn struct {
	net.Conn
	within time.Duration
	of     *patient
}

// Read implements net.Conn.
func (c *patientConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.within)); err != nil {
		return 0, err
	}
	c.within = idleTimeout
	return c.Conn.Read(b)
}

// Close implements net.Conn.
func (c *patientConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
