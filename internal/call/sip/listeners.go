package sip

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/sip/outbound"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// The sockets that sipgo reads: strangers are held off here.

// datagrams is a UDP socket that brings only messages of those who may call. One goroutine reads.
type datagrams struct {
	net.PacketConn
	door *door
	buf  []byte
	read func() // called when sipgo begins to read, and with that can send
}

// maxDatagram is the size of the largest datagram that IP can bring.
const maxDatagram = 1<<16 - 1

func newDatagrams(c net.PacketConn, d *door, read func()) *datagrams {
	return &datagrams{c, d, make([]byte, maxDatagram), read}
}

// ReadFrom implements net.PacketConn.
func (c *datagrams) ReadFrom(b []byte) (int, net.Addr, error) {
	c.read()
	for {
		n, addr, err := c.PacketConn.ReadFrom(c.buf)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return n, addr, err
			}
			continue // sipgo stops reading after an error, and one packet's error is no reason
		}
		from := addressOf(addr)
		var answer []byte
		t, _ := c.door.known(from)
		passes := t != nil && n <= len(b)
		switch {
		case t == nil:
			passes, answer = c.door.pass(c.buf[:n], from)
		case c.door.spend(t, n+perDatagram) > 0:
			passes = false // the trunk sends it again
		case !passes:
			answer = tooLarge(c.buf[:n])
		}
		if passes {
			return copy(b, c.buf[:n]), addr, nil
		}
		if answer != nil {
			_, _ = c.WriteTo(answer, addr) // like any datagram, it may be lost
		}
	}
}

// tooLarge returns the answer to a request that is larger than this server reads; nil for what is none.
func tooLarge(b []byte) []byte {
	m, err := sip.ParseMessage(b)
	r, ok := m.(*sip.Request)
	if err != nil || !ok || r.IsAck() {
		return nil
	}
	answer := []byte(sip.NewResponseFromRequest(r, sip.StatusMessageTooLarge, "Message Too Large", nil).String())
	return answer[:min(len(answer), len(b))]
}

// addressOf returns an address as netip has it.
func addressOf(a net.Addr) netip.AddrPort {
	p, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// Limits of connections of strangers, and of all.
const (
	strangerBytes   = 16 << 10
	strangerTime    = 5 * time.Second
	maxConnections  = 512
	maxStrangers    = maxConnections / 2 // the others are for trunks
	connectionsEach = 16                 // of one network of strangers
	connectionsMost = 128                // of one network of a trunk
	maxChunk        = 4 << 10
)

// connections is a listener whose connections of strangers are few and short. Their networks share the places of strangers.
type connections struct {
	net.Listener
	door      *door
	taken     func(from netip.AddrPort) bool // whether this server has opened a connection to this address
	strangers *account.Budget

	mu       sync.Mutex
	all      int
	networks map[netip.Prefix]int
}

func newConnections(l net.Listener, d *door, taken func(from netip.AddrPort) bool) *connections {
	return &connections{Listener: l, door: d, taken: taken, strangers: account.New(maxStrangers), networks: map[netip.Prefix]int{}}
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addressOf(c.RemoteAddr())
		if l.taken(from) {
			_ = c.Close() // it would take the place of the other one in sipgo's pool, and nobody has checked its certificate
			continue
		}
		place, ok := l.enter(from)
		if !ok {
			_ = c.Close() // a stranger too many
			continue
		}
		conn := &connection{Conn: c, from: from, of: l, began: l.door.now(), place: place, closed: make(chan struct{})}
		if place != nil {
			_ = c.SetReadDeadline(conn.began.Add(strangerTime)) // a closed connection says so when it is read
		}
		return conn, nil
	}
}

// enter counts a connection. It reports false if there are too many. place is what a stranger holds of the places of strangers; nil for a trunk.
func (l *connections) enter(from netip.AddrPort) (place *account.Account, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	network := httpguard.Network(from.Addr())
	t, _ := l.door.known(from)
	most := connectionsMost
	if t == nil {
		most, place = connectionsEach, account.Purse{Budget: l.strangers, Payer: network.String()}.Open(0)
	}
	if l.all >= maxConnections || l.networks[network] >= most || place.Take(1) != nil {
		return nil, false
	}
	l.all++
	l.networks[network]++
	return place, true
}

func (l *connections) leave(from netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	network := httpguard.Network(from.Addr())
	l.all--
	if l.networks[network]--; l.networks[network] <= 0 {
		delete(l.networks, network)
	}
}

// connection is one connection.
type connection struct {
	net.Conn
	from   netip.AddrPort
	of     *connections
	began  time.Time
	read   int
	trunk  *Trunk           // nil until credentials are shown
	place  *account.Account // of a stranger
	once   sync.Once
	closed chan struct{}
	out    outbound.Writer
}

// errStranger ends the connection of somebody who has shown no credentials for too long.
var errStranger = errors.New("sip: no credentials on this connection: it ends")

// Read implements net.Conn.
func (c *connection) Read(b []byte) (int, error) {
	b = b[:min(len(b), maxChunk)]
	n, err := c.Conn.Read(b)
	if c.trunk == nil {
		t, _ := c.of.door.known(c.from)
		if t == nil {
			if c.read += n; c.read > strangerBytes {
				return 0, errStranger
			}
			return n, err
		}
		c.trunk = t
		c.place.Close()
		if cleared := c.SetReadDeadline(time.Time{}); cleared != nil {
			return n, cleared
		}
		if late, is := errors.AsType[net.Error](err); is && late.Timeout() {
			n, err = c.Conn.Read(b) // the deadline was a stranger's
		}
	}
	c.pay(n)
	return n, err
}

// pay waits until the trunk may send n bytes, or the connection ends.
func (c *connection) pay(n int) {
	for {
		wait := c.of.door.spend(c.trunk, n)
		if wait == 0 {
			return
		}
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-c.closed:
			again.Stop()
			return
		}
	}
}

// Write implements net.Conn.
func (c *connection) Write(b []byte) (int, error) {
	return c.out.Write(c.Conn, b, c.Close)
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.of.leave(c.from)
		c.place.Close()
	})
	return c.Conn.Close()
}
