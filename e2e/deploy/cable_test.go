package deploy

// The network before one server, which a test can cut.

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"
)

// cable passes TCP connections on to an address, until it is cut.
type cable struct {
	to     string
	listen net.Listener
	done   sync.WaitGroup
	gone   atomic.Bool

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

// newCable returns a cable to an address, and the address of its other end. It ends with the test.
func newCable(t *testing.T, to string) (c *cable, from string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	c = &cable{to: to, listen: l, open: map[net.Conn]bool{}}
	c.done.Go(c.accept)
	t.Cleanup(func() {
		_ = l.Close() // it ends accept
		c.cut(true)
		c.done.Wait()
	})
	return c, l.Addr().String()
}

// accept takes connections until the listener is closed.
func (c *cable) accept() {
	for {
		near, err := c.listen.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.to)
		if err != nil {
			_ = near.Close() // as if the other end had refused it
			continue
		}
		if !c.keep(near, far) {
			continue
		}
		c.done.Go(func() { c.carry(near, far) })
		c.done.Go(func() { c.carry(far, near) })
	}
}

// carry copies from one end to the other, and then closes both.
func (c *cable) carry(from, to net.Conn) {
	_, _ = io.Copy(passing{to, &c.gone}, from) // its end is the end of the connection
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range []net.Conn{from, to} {
		_ = end.Close() // the other direction may have closed it
		delete(c.open, end)
	}
}

// passing passes on what is written, until gone. Then it drops it.
type passing struct {
	to   io.Writer
	gone *atomic.Bool
}

// Write implements io.Writer.
func (p passing) Write(b []byte) (int, error) {
	if p.gone.Load() {
		return len(b), nil
	}
	return p.to.Write(b)
}

// vanish is what a machine does that loses its power: the open connections carry nothing and do not end. New ones are not accepted.
func (c *cable) vanish() {
	c.gone.Store(true)
	_ = c.listen.Close() // it ends accept
}

// keep notes the ends of a connection. It closes them and reports false while the cable is cut.
func (c *cable) keep(ends ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range ends {
		if c.isCut {
			_ = end.Close() // nothing was sent
			continue
		}
		c.open[end] = true
	}
	return !c.isCut
}

// cut ends all connections and refuses new ones, until it is called with false.
func (c *cable) cut(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = on
	if !on {
		return
	}
	for end := range c.open {
		_ = end.Close() // carry ends, and closes it again
	}
}
