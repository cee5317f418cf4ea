package httpguard

import (
	"container/list"
	"context"
	"net"
	"net/netip"
	"sync"
)

// The listener: limits the connections of a server and of each client address, and closes idle ones to make room.

// Limits are limits of connections at a time.
type Limits struct {
	// Connections is the number of connections of the server; 0 takes half of the descriptors that the process may open, at most 4096.
	Connections int
	// PerAddress is the number of connections of one client address; 0 takes half of Connections.
	PerAddress int
	// Proxies are the reverse proxies. Their connections count for the server only.
	Proxies Proxies
}

// maxConnections is the number of connections if the process may open very many descriptors.
const maxConnections = 4096

// withDefaults returns the limits with defaults for zero fields.
func (l Limits) withDefaults() Limits {
	if l.Connections == 0 {
		l.Connections = min(maxConnections, descriptors()/2)
	}
	if l.PerAddress == 0 {
		l.PerAddress = max(1, l.Connections/2)
	}
	return l
}

// Listener limits the connections that it accepts. When a limit is reached, it closes a connection that has no request to answer: the oldest of the same address or, for the
// server's limit, the oldest of the address that has most connections. If there is none, it closes the new connection. It is safe for concurrent use.
type Listener struct {
	net.Listener

	mu     sync.Mutex
	limits Limits
	total  int
	held   int // connections for which Hold was called
	of     map[netip.Prefix]*client
}

// client is one client address with its connections.
type client struct {
	total int
	held  int
	idle  list.List // of *conn: those without a request, the oldest first
}

// Listen returns a Listener on top of inner.
func Listen(inner net.Listener, limits Limits) *Listener {
	return &Listener{Listener: inner, limits: limits.withDefaults(), of: map[netip.Prefix]*client{}}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, evicted := l.admit(raw)
		for _, e := range evicted {
			_ = e.Close() // its client is told nothing: it has asked for nothing
		}
		if c != nil {
			return c, nil
		}
		_ = raw.Close() // there is no room
	}
}

// Limit changes the limits. Connections above a smaller limit stay until a new connection comes.
func (l *Listener) Limit(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits.withDefaults()
}

// admit enters a connection, or returns nil if there is no room for it. evicted are connections that the caller closes to make room.
func (l *Listener) admit(raw net.Conn) (c *conn, evicted []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	addr := hostAddr(raw.RemoteAddr().String())
	network := Network(addr)
	if l.limits.Proxies.contains(addr) {
		network = netip.Prefix{}
	}
	of := l.of[network]
	if of == nil {
		of = &client{}
	}
	for {
		var full *client
		switch {
		case network.IsValid() && of.total >= l.limits.PerAddress:
			full = of
		case l.total >= l.limits.Connections:
			full = l.greediest()
		}
		if full == nil {
			break
		}
		old := full.oldest()
		if old == nil {
			return nil, evicted
		}
		l.remove(old)
		evicted = append(evicted, old)
	}
	l.of[network] = of // the eviction may have removed it
	c = &conn{Conn: raw, listener: l, network: network, of: of}
	l.total++
	of.total++
	c.idle = of.idle.PushBack(c)
	return c, evicted
}

// greediest returns the client with most connections among those that have an idle one, or an empty client. The caller holds mu.
func (l *Listener) greediest() *client {
	most := &client{}
	for _, of := range l.of {
		if of.idle.Len() > 0 && of.total > most.total {
			most = of
		}
	}
	return most
}

// oldest returns the connection that has had no request for the longest time, or nil.
func (c *client) oldest() *conn {
	if first := c.idle.Front(); first != nil {
		old, _ := first.Value.(*conn)
		return old
	}
	return nil
}

// remove forgets a connection. The caller holds mu.
func (l *Listener) remove(c *conn) {
	if c.removed {
		return
	}
	c.removed = true
	l.total--
	c.of.total--
	if c.held {
		l.held--
		c.of.held--
	}
	if c.idle != nil {
		c.of.idle.Remove(c.idle)
		c.idle = nil
	}
	if c.of.total == 0 {
		delete(l.of, c.network)
	}
}

// conn is a connection that counts.
type conn struct {
	net.Conn
	listener *Listener
	network  netip.Prefix
	of       *client

	// The listener's mu guards the rest.
	requests int           // how many requests are being answered
	idle     *list.Element // in of.idle, while requests is 0
	removed  bool
	held     bool
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// answer notes that the connection has a request, so that it is not closed for others. The caller calls done after the response.
func (c *conn) answer() (done func()) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.requests++
	if c.idle != nil {
		c.of.idle.Remove(c.idle)
		c.idle = nil
	}
	return func() {
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		if c.requests--; c.requests == 0 && !c.removed {
			c.idle = c.of.idle.PushBack(c)
		}
	}
}

// hold makes a connection busy until it closes. It reports false if half of the connections of the server, or of the client address, are held already.
func (c *conn) hold() bool {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	proxied := !c.network.IsValid()
	if c.removed || 2*l.held >= l.limits.Connections || !proxied && 2*c.of.held >= l.limits.PerAddress {
		return false
	}
	c.held = true
	l.held++
	c.of.held++
	c.requests++
	if c.idle != nil {
		c.of.idle.Remove(c.idle)
		c.idle = nil
	}
	return true
}

// Hold keeps a connection, which carries no HTTP, from being closed to make room for others. It reports false if there are too many such connections: half of all, and half of
// those of a client address, remain for HTTP. The caller closes the connection then. A connection that no Listener has accepted is always held.
func Hold(c net.Conn) bool {
	counted := counted(c)
	return counted == nil || counted.hold()
}

// counted returns the connection of a Listener below c, or nil.
func counted(c net.Conn) *conn {
	for {
		if found, ok := c.(*conn); ok {
			return found
		}
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = outer.NetConn()
	}
}

// connKey is the key of the connection in a request's context.
type connKey struct{}

// ConnContext is for http.Server.ConnContext: a Guard knows then which connection has a request.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if found := counted(c); found != nil {
		return context.WithValue(ctx, connKey{}, found)
	}
	return ctx
}
