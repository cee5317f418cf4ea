package calltest

// A server in this process, on a network in memory: it needs no port, and belongs to the bubble of testing/synctest in which it begins.

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// InMemory serves handler in this process. close ends that, after the calls.
func InMemory(handler http.Handler) (t *Target, close func()) {
	m := &memory{conns: make(chan net.Conn), gone: make(chan struct{})}
	transport := &http.Transport{DialContext: m.dial, DisableKeepAlives: true}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer func() { served <- struct{}{} }()
		_ = s.Serve(m) // it ends with close
	}()
	t = &Target{URL: "http://server.test", Loopback: true, WebSocket: true, Client: &http.Client{Transport: transport}, Patience: 30 * time.Second}
	return t, func() {
		transport.CloseIdleConnections()
		_ = s.Close() // the calls have ended
		<-served
	}
}

// memory is a net.Listener whose connections are pipes without buffers.
type memory struct {
	conns chan net.Conn
	once  sync.Once
	gone  chan struct{}
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return newBuffered(near), nil
	case <-m.gone:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.gone:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.gone) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// buffered is an end of a pipe that takes what is written before the other end reads it. Without that, two WebSockets that ping each other at the
// same time wait for each other.
type buffered struct {
	net.Conn
	mu     sync.Mutex
	closed bool
	out    chan []byte
}

// maxWaiting is how many writes wait for the other end. Further ones block.
const maxWaiting = 4096

func newBuffered(c net.Conn) *buffered {
	b := &buffered{Conn: c, out: make(chan []byte, maxWaiting)}
	go func() {
		for p := range b.out {
			_, _ = b.Conn.Write(p) // the other end may be gone
		}
		_ = b.Conn.Close() // so may this one
	}()
	return b
}

// Write implements net.Conn.
func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, net.ErrClosed
	}
	b.out <- bytes.Clone(p)
	return len(p), nil
}

// Close implements net.Conn. It closes the pipe after the last write.
func (b *buffered) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.out)
	}
	return nil
}
