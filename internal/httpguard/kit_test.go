package httpguard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// The test kit: a guarded server on a port of its own, in this process or in another one with few descriptors, and raw connections.

const patience = 20 * time.Second

// fewDescriptors is the environment variable that makes the test binary a server with 1,024 descriptors.
const fewDescriptors = "HTTPGUARD_FEW_DESCRIPTORS"

func TestMain(m *testing.M) {
	if os.Getenv(fewDescriptors) != "" {
		serveWithFewDescriptors()
		return
	}
	goleak.VerifyTestMain(m)
}

// serveWithFewDescriptors serves until its standard input ends. It prints its address.
func serveWithFewDescriptors() {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1024, Max: 1024}); err != nil {
		panic(err)
	}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(inner.Addr())
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	go func() { _ = Server(New(hello, Config{}), slog.New(slog.DiscardHandler)).Serve(Listen(inner, Limits{})) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// guarded is a server of a test.
type guarded struct {
	t       *testing.T
	g       *gomega.WithT
	address string
	// listener is nil for a server in another process.
	listener *Listener
}

// serve serves h until the test ends.
func serve(t *testing.T, h http.HandlerFunc, cfg Config, limits Limits) *guarded {
	t.Helper()
	g := gomega.NewWithT(t)
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s := Server(New(h, cfg), slog.New(slog.DiscardHandler))
	var open sync.WaitGroup // net/http keeps a connection for half a second whose request it has not read to its end
	s.ConnState = func(_ net.Conn, now http.ConnState) {
		switch now {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Done()
		case http.StateActive, http.StateIdle:
		}
	}
	served := make(chan error, 1)
	listener := Listen(inner, limits)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		g.Expect(s.Close()).To(gomega.Succeed())
		g.Expect(<-served).To(gomega.MatchError(http.ErrServerClosed))
		open.Wait()
	})
	return &guarded{t, g, inner.Addr().String(), listener}
}

// raw is a connection that sends what a test writes.
type raw struct {
	net.Conn
	in *bufio.Reader
	d  *guarded
}

// dial connects and sends text.
func (d *guarded) dial(text string) *raw {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", d.address)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.t.Cleanup(func() { _ = c.Close() }) // the server may have closed it
	d.g.Expect(c.SetDeadline(time.Now().Add(patience))).To(gomega.Succeed())
	_, err = io.WriteString(c, text)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	return &raw{c, bufio.NewReader(c), d}
}

// answered reads a response and returns its status and body.
func (r *raw) answered() (status int, body string) {
	r.d.t.Helper()
	answer, err := http.ReadResponse(r.in, nil)
	r.d.g.Expect(err).NotTo(gomega.HaveOccurred())
	text, err := io.ReadAll(answer.Body)
	r.d.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.d.g.Expect(answer.Body.Close()).To(gomega.Succeed())
	return answer.StatusCode, string(text)
}

// closed waits until the server has closed the connection, and returns what it sent before.
func (r *raw) closed() []byte {
	r.d.t.Helper()
	text, err := io.ReadAll(r.in)
	r.d.g.Expect(os.IsTimeout(err)).To(gomega.BeFalse(), "the server has not closed the connection")
	return text
}

const get = "GET / HTTP/1.1\r\nHost: talk.test\r\n\r\n"
