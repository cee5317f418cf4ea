package oneport

import (
	"net"
	"sync"
)

// The listeners of a port: each accepts the connections of one protocol.

// arrival is a connection, or an error of the port.
type arrival struct {
	conn net.Conn
	err  error
}

// door is a listener that accepts what the port gives it. Make it with newDoor.
type door struct {
	addr     net.Addr
	arrivals chan arrival
	closed   chan struct{}
	shut     func()
}

func newDoor(addr net.Addr) *door {
	d := &door{addr: addr, arrivals: make(chan arrival), closed: make(chan struct{})}
	d.shut = sync.OnceFunc(func() { close(d.closed) })
	return d
}

// give waits until the arrival is accepted. It reports false if the listener is closed.
func (d *door) give(a arrival) bool {
	select {
	case d.arrivals <- a:
		return true
	case <-d.closed:
		return false
	}
}

// The methods of net.Listener.
func (d *door) Accept() (net.Conn, error) {
	select {
	case a := <-d.arrivals:
		return a.conn, a.err
	case <-d.closed:
		return nil, &net.OpError{Op: "accept", Net: d.addr.Network(), Addr: d.addr, Err: net.ErrClosed}
	}
}

func (d *door) Addr() net.Addr { return d.addr }

func (d *door) Close() error {
	d.shut()
	return nil
}

// webDoor is the listener for HTTP. Its Close closes the port.
type webDoor struct {
	*door
	port *Port
}

// Close implements net.Listener.
func (d webDoor) Close() error { return d.port.close() }
