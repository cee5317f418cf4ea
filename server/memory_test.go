package server_test

// A network in memory, for tests in a synctest bubble.

import (
	"context"
	"net"
	"sync"
)

// memory is a network inside of the test. Its connections are pipes without buffers, so that they belong to the test's bubble and its
// clock. It is a net.Listener.
type memory struct {
	conns chan net.Conn
	once  sync.Once
	gone  chan struct{}
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), gone: make(chan struct{})} }

// dial is http.Transport's DialContext.
func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.gone:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.gone:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error {
	m.once.Do(func() { close(m.gone) })
	return nil
}

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "server.test" }
