package oneport

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// The port: accepts connections, finds out their protocols, and gives each to the listener of its protocol.

// Timeout is how long a client may take for its first bytes and the handshake of TLS.
const Timeout = httpguard.HeaderTimeout

// turnProtocol is the name of TURN in ALPN (RFC 7443).
const turnProtocol = "stun.turn"

// Config says what a port carries besides HTTP.
type Config struct {
	// TLS is the configuration of HTTPS and of TURN over TLS; nil for a port without TLS. Its NextProtos are those of HTTP.
	TLS *tls.Config
	// ICE and TURN say that the port carries ICE over TCP, and TURN.
	ICE, TURN bool

	timeout time.Duration // 0 takes Timeout
}

// Port has the listeners of one port. They are safe for concurrent use.
type Port struct {
	// HTTP accepts connections for HTTP and, with Config.TLS, for HTTPS alone. These are *tls.Conn after their handshake, except for clients that name no protocol (ALPN). It
	// also accepts what is none of the other protocols: the HTTP server knows how to refuse it. Its Close closes the whole port.
	HTTP net.Listener
	// ICE and TURN accept connections of these protocols, those for TURN after the handshake of TLS. Both are nil unless Config asks for them. Their Close leaves the port open.
	ICE, TURN net.Listener

	base      net.Listener
	cfg       Config
	web       *door
	ice, turn *door // nil without Config.ICE and Config.TURN
	sorters   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	sorting map[net.Conn]struct{} // connections whose protocol is not known yet
}

// Share accepts the connections of a listener until Port.HTTP is closed, which closes the listener, too. With a listener of httpguard.Listen the
// limits of a client address are those of the listener, and connections for ICE and TURN are at most half of them.
func Share(l net.Listener, cfg Config) *Port {
	if cfg.timeout == 0 {
		cfg.timeout = Timeout
	}
	p := &Port{base: l, sorting: map[net.Conn]struct{}{}, web: newDoor(l.Addr())}
	p.HTTP = webDoor{p.web, p}
	if cfg.ICE {
		p.ice = newDoor(l.Addr())
		p.ICE = p.ice
	}
	if cfg.TURN {
		p.turn = newDoor(l.Addr())
		p.TURN = p.turn
	}
	if cfg.TLS != nil {
		cfg.TLS = cfg.TLS.Clone() // an HTTP server changes its configuration
		if cfg.TURN {
			cfg.TLS = withTURN(cfg.TLS)
		}
	}
	p.cfg = cfg
	p.sorters.Go(p.accept)
	return p
}

// withTURN returns a configuration that also takes clients that name TURN as their protocol.
func withTURN(config *tls.Config) *tls.Config {
	outer, choose := config.Clone(), config.GetConfigForClient
	outer.GetConfigForClient = func(hello *tls.ClientHelloInfo) (chosen *tls.Config, err error) {
		if choose != nil {
			chosen, err = choose(hello)
		}
		if err != nil || !slices.Contains(hello.SupportedProtos, turnProtocol) {
			return chosen, err
		}
		if chosen == nil {
			chosen = config
		}
		chosen = chosen.Clone()
		chosen.NextProtos = []string{turnProtocol}
		return chosen, nil
	}
	return outer
}

// accept accepts connections until the port is closed. The HTTP server gets the errors: it waits when there are no more descriptors.
func (p *Port) accept() {
	for {
		c, err := p.base.Accept()
		if err != nil {
			if !p.web.give(arrival{err: err}) {
				return
			}
			continue
		}
		if !p.begin(c) {
			_ = c.Close() // the port is closed
			return
		}
		p.sorters.Go(func() {
			defer p.end(c)
			p.sort(c)
		})
	}
}

// begin notes a connection whose protocol is not known yet. It reports false if the port is closed.
func (p *Port) begin(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.sorting[c] = struct{}{}
	}
	return !p.closed
}

func (p *Port) end(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sorting, c)
}

// sort finds out the protocol of a connection, and gives the connection to the listener of the protocol.
func (p *Port) sort(raw net.Conn) {
	_ = raw.SetDeadline(time.Now().Add(p.cfg.timeout)) // a connection without deadlines is no network connection
	to, c := p.recognise(raw)
	if to == nil || to != p.web && !httpguard.Hold(raw) {
		_ = raw.Close() // its client has sent nothing that can be answered, or there is no room for it
		return
	}
	_ = raw.SetDeadline(time.Time{})
	if !to.give(arrival{conn: c}) {
		_ = c.Close() // nobody accepts it any more
	}
}

// recognise returns the listener of a connection, and the connection with its first bytes. The listener is nil if the client has not said in time what it wants.
func (p *Port) recognise(raw net.Conn) (to *door, c net.Conn) {
	first := &peeked{Conn: raw}
	is, err := first.protocol()
	switch {
	case err != nil:
		return nil, nil
	case is == overTURN && p.turn != nil:
		return p.turn, first
	case is == overICE && p.ice != nil:
		return p.ice, first
	case p.cfg.TLS == nil:
		return p.web, first
	}
	secured := tls.Server(first, p.cfg.TLS)
	if is != overTLS {
		return p.web, secured // net/http tells clients without TLS what is wrong
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.timeout)
	defer cancel()
	if secured.HandshakeContext(ctx) != nil {
		return nil, nil
	}
	switch secured.ConnectionState().NegotiatedProtocol {
	case turnProtocol:
		return p.turn, secured
	case "":
		inner := &peeked{Conn: secured}
		is, err := inner.protocol()
		if err != nil {
			return nil, nil
		}
		if is == overTURN && p.turn != nil {
			return p.turn, inner
		}
		return p.web, inner
	}
	return p.web, secured
}

// close closes the port, and waits for its goroutines.
func (p *Port) close() error {
	p.mu.Lock()
	p.closed = true
	for c := range p.sorting {
		_ = c.Close() // nothing was answered yet
	}
	p.mu.Unlock()
	err := p.base.Close()
	for _, d := range []*door{p.web, p.ice, p.turn} {
		if d != nil {
			_ = d.Close() // it never fails
		}
	}
	p.sorters.Wait()
	return err
}
