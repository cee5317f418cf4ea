package httpguard

// Slow and idle HTTP clients, and the limits of one address.

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

// moment is a time limit that a test waits out.
const moment = 50 * time.Millisecond

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

// A server that may open 1,024 descriptors answers while one address holds 1,100 idle connections.
func TestIdleSocketsDoNotTakeTheServerAway(t *testing.T) {
	g := gomega.NewWithT(t)
	child := exec.Command("/proc/self/exe")
	child.Env = append(child.Environ(), fewDescriptors+"=1")
	in, err := child.StdinPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	out, err := child.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(child.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		_ = in.Close() // ends the child
		g.Expect(child.Wait()).To(gomega.Succeed())
	})
	line := make([]byte, 64)
	n, err := out.Read(line)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	d := &guarded{t, g, strings.TrimSpace(string(line[:n])), nil}
	for range 1100 {
		d.dial("")
	}
	good := d.dial(get)
	g.Expect(good.SetDeadline(time.Now().Add(HeaderTimeout/2))).To(gomega.Succeed(), "before the others' time is over")
	status, body := good.answered()
	g.Expect(status).To(gomega.Equal(http.StatusOK))
	g.Expect(body).To(gomega.Equal("hello"))
}

// A body that does not come ends the connection, whether its length is known or not, and whether the handler reads it or not.
func TestABodyHasADeadline(t *testing.T) {
	reads := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	ignores := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	for name, request := range map[string]string{
		"with Content-Length": "POST / HTTP/1.1\r\nHost: talk.test\r\nContent-Length: 100000\r\n\r\npart",
		"in chunks":           "POST / HTTP/1.1\r\nHost: talk.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
	} {
		for handler, h := range map[string]http.HandlerFunc{"read": reads, "not read": ignores} {
			t.Run(name+", "+handler, func(t *testing.T) {
				serve(t, h, Config{body: moment}, Limits{}).dial(request).closed()
			})
		}
	}
}

// A client that does not read a response is cut off.
func TestASlowReaderIsCutOff(t *testing.T) {
	wrote := make(chan error, 1)
	d := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		part := bytes.Repeat([]byte("x"), 256) // some megabytes fit between both ends; a part gives 31 ms more
		for {
			if _, err := w.Write(part); err != nil {
				wrote <- err
				return
			}
		}
	}, Config{write: moment}, Limits{})
	d.dial(get)
	d.g.Eventually(wrote, patience).Should(gomega.Receive(gomega.HaveOccurred()))
}

// A stream of events outlives every time limit, and so does a connection that the handler has taken.
func TestStreamsLiveOn(t *testing.T) {
	t.Run("events", func(t *testing.T) {
		next := make(chan struct{})
		d := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for range next {
				if r.Context().Err() != nil {
					return
				}
				_, _ = io.WriteString(w, "data: x\n\n")
				w.(http.Flusher).Flush()
			}
		}, Config{body: moment, write: moment}, Limits{})
		c := d.dial(get)
		for range 3 {
			<-time.After(2 * moment)
			next <- struct{}{}
		}
		close(next)
		_, body := c.answered()
		d.g.Expect(body).To(gomega.Equal("data: x\n\ndata: x\n\ndata: x\n\n"))
	})
	t.Run("a taken connection", func(t *testing.T) {
		d := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			c, buffered, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, buffered) }()
		}, Config{body: moment, write: moment}, Limits{Connections: 3})
		c := d.dial(get)
		<-time.After(2 * moment)
		for range 5 {
			d.dial("") // they make room for one another, not by the taken one's end
		}
		_, err := io.WriteString(c, "echo")
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		got := make([]byte, 4)
		_, err = io.ReadFull(c.in, got)
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		d.g.Expect(string(got)).To(gomega.Equal("echo"))
		_ = c.Close()
	})
}

// An address that is at its limit loses its own oldest idle connection, and a connection with a request stays.
func TestConnectionsOfAnAddress(t *testing.T) {
	release := make(chan struct{})
	began := make(chan struct{})
	d := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-release
		}
		hello(w, r)
	}, Config{}, Limits{Connections: 100, PerAddress: 2})
	busy := d.dial("GET /slow HTTP/1.1\r\nHost: talk.test\r\n\r\n")
	<-began
	idle := d.dial("")
	third := d.dial(get)
	d.g.Expect(idle.closed()).To(gomega.BeEmpty())
	third.answered()
	close(release)
	_, body := busy.answered()
	d.g.Expect(body).To(gomega.Equal("hello"))
}

// A response to a request whose body the handler does not read comes at once: the client waits for it before it sends the body, or will
// never send all of it.
func TestAnUnreadBodyHoldsUpNoResponse(t *testing.T) {
	d := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, Config{body: time.Hour}, Limits{})
	for name, header := range map[string]string{
		"the client waits for 100 Continue": "Expect: 100-continue\r\nContent-Length: 5",
		"the body is long":                  "Content-Length: 999999",
		"the body is short":                 "Content-Length: 999",
	} {
		t.Run(name, func(t *testing.T) {
			status, _ := d.dial("POST / HTTP/1.1\r\nHost: talk.test\r\n" + header + "\r\n\r\n").answered()
			gomega.NewWithT(t).Expect(status).To(gomega.Equal(http.StatusUnauthorized))
		})
	}
}

// TestALateBodySaysNoAddress checks that the error of a body that comes too slowly does not show the addresses of the connection, which may be those behind a proxy.
func TestALateBodySaysNoAddress(t *testing.T) {
	said := make(chan string, 1)
	d := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		said <- err.Error()
	}, Config{body: time.Millisecond}, Limits{})
	d.dial("POST / HTTP/1.1\r\nHost: talk.test\r\nContent-Length: 5\r\n\r\nabc")
	d.g.Eventually(said, patience).Should(gomega.Receive(gomega.Equal(errLate.Error())))
}

// Limits change while the server runs: the next connection takes the place of the idle ones above a smaller limit.
func TestLimitsChange(t *testing.T) {
	d := serve(t, hello, Config{}, Limits{Connections: 100, PerAddress: 100})
	var idle []*raw
	total := func() int {
		d.listener.mu.Lock()
		defer d.listener.mu.Unlock()
		return d.listener.total
	}
	for n := range 4 {
		idle = append(idle, d.dial(""))
		d.g.Eventually(total, patience).Should(gomega.Equal(n + 1))
	}
	d.listener.Limit(Limits{Connections: 100, PerAddress: 2})
	fresh := d.dial(get)
	fresh.answered()
	for _, c := range idle[:3] {
		d.g.Expect(c.closed()).To(gomega.BeEmpty())
	}
	d.g.Expect(total()).To(gomega.Equal(2))
}

// Behind a trusted proxy the proxy's connections are not limited as one client's, but the requests of each client are.
func TestRequestsBehindAProxy(t *testing.T) {
	g := gomega.NewWithT(t)
	proxies, err := ParseProxies([]string{"127.0.0.1"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	release, began := make(chan struct{}), make(chan netip.Addr, 3)
	d := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		began <- Client(r)
		<-release
	}, Config{Proxies: proxies, RequestsPerAddress: 1}, Limits{Connections: 100, PerAddress: 1, Proxies: proxies})
	from := func(forwarded string) *raw {
		return d.dial("GET / HTTP/1.1\r\nHost: talk.test\r\nX-Forwarded-For: " + forwarded + "\r\n\r\n")
	}
	first := from("10.9.9.9, 192.0.2.1")
	g.Expect(<-began).To(gomega.Equal(netip.MustParseAddr("192.0.2.1")))
	status, _ := from("192.0.2.1").answered()
	g.Expect(status).To(gomega.Equal(http.StatusTooManyRequests))
	other := from("192.0.2.2")
	g.Expect(<-began).To(gomega.Equal(netip.MustParseAddr("192.0.2.2")))
	close(release)
	for _, c := range []*raw{first, other} {
		status, _ = c.answered()
		g.Expect(status).To(gomega.Equal(http.StatusOK))
	}
}

func TestClientAddress(t *testing.T) {
	g := gomega.NewWithT(t)
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "::1"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, row := range []struct{ remote, forwarded, client string }{
		{"192.0.2.9:1", "198.51.100.1", "192.0.2.9"}, // anybody can write the header
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"10.0.0.1:1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "198.51.100.1, 192.0.2.9, 10.0.0.2", "192.0.2.9"},
		{"10.0.0.1:1", "nonsense, 10.0.0.2", "10.0.0.2"},
		{"[::1]:1", "::ffff:192.0.2.9", "192.0.2.9"},
	} {
		r := &http.Request{RemoteAddr: row.remote, Header: http.Header{"X-Forwarded-For": {row.forwarded}}}
		g.Expect(proxies.client(r).String()).To(gomega.Equal(row.client), row.remote+" "+row.forwarded)
	}
	g.Expect(Network(netip.MustParseAddr("2001:db8::1"))).To(gomega.Equal(Network(netip.MustParseAddr("2001:db8::2:1"))))
	g.Expect(Network(netip.MustParseAddr("192.0.2.1"))).NotTo(gomega.Equal(Network(netip.MustParseAddr("192.0.2.2"))))
	_, err = ParseProxies([]string{"proxy.test"})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("10.0.0.0/8")))
}

// TestFailedHandshakesFillNoLog checks that what a stranger causes with each connection is a debug message, and that other errors are warnings in the log's own format.
func TestFailedHandshakesFillNoLog(t *testing.T) {
	g := gomega.NewWithT(t)
	var out servertest.Log
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(New(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault of the handler") }), Config{}),
		slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s.StartTLS()
	t.Cleanup(s.Close)
	stranger, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = io.WriteString(stranger, "no TLS")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(stranger.Close()).To(gomega.Succeed())
	g.Eventually(func() []string { return out.Lines("handshake") }, patience).Should(gomega.ConsistOf(gomega.ContainSubstring(`"level":"DEBUG"`)))
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
	_, err = s.Client().Do(r) //nolint:bodyclose // it has no response
	g.Expect(err).To(gomega.HaveOccurred())
	g.Eventually(func() []string { return out.Lines("a fault of the handler") }, patience).Should(gomega.ConsistOf(gomega.ContainSubstring(`"level":"WARN"`)))
}

// TestRequestsOverHTTP2 checks that one connection over HTTP/2 has few requests at a time, and that one address has no more over many connections.
func TestRequestsOverHTTP2(t *testing.T) {
	g := gomega.NewWithT(t)
	const most = 40
	var begun, connections atomic.Int64
	release := make(chan struct{})
	s := httptest.NewUnstartedServer(nil)
	s.Config = Server(New(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun.Add(1)
		<-release
	}), Config{RequestsPerAddress: most}), slog.New(slog.DiscardHandler))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	answers := make(chan int, 2*most)
	ask := func() {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		_ = answer.Body.Close()
		answers <- answer.StatusCode*10 + answer.ProtoMajor
	}
	for range most {
		go ask()
	}
	g.Eventually(begun.Load, patience).Should(gomega.BeEquivalentTo(most))
	g.Expect(connections.Load()).To(gomega.BeNumerically(">=", 2), "one connection does not take all")
	go ask()
	g.Eventually(answers, patience).Should(gomega.Receive(gomega.Equal(4292)))
	close(release)
	for range most {
		g.Eventually(answers, patience).Should(gomega.Receive(gomega.Equal(2002)))
	}
}
