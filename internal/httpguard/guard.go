package httpguard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The guard: an HTTP handler that limits how long requests and responses may take, and how many requests a client behind a proxy has at a time.

// Times that a client may take.
const (
	// HeaderTimeout is for the header of a request.
	HeaderTimeout = 10 * time.Second
	// BodyTimeout is for the body of a request.
	BodyTimeout = 30 * time.Second
	// WriteTimeout is for a response, in addition to one second for each slowestReader bytes. Time in which the handler writes nothing does not count.
	WriteTimeout  = 30 * time.Second
	slowestReader = 8 << 10
	// IdleTimeout is how long a connection may wait for its next request.
	IdleTimeout = 2 * time.Minute
)

// streams is how many requests a connection over HTTP/2 may have at a time.
const streams = 32

// Server returns an http.Server with all time limits for the clients of h. It writes its errors to the logger. The caller wraps its net.Listener with Listen.
func Server(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ErrorLog: log.New(errorLog{logger}, "", 0), ConnContext: ConnContext, MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: HeaderTimeout, ReadTimeout: HeaderTimeout + BodyTimeout, WriteTimeout: WriteTimeout, IdleTimeout: IdleTimeout,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams, SendPingTimeout: IdleTimeout, PingTimeout: HeaderTimeout, WriteByteTimeout: WriteTimeout},
	}
}

// errorLog gets the errors of net/http. Those that a stranger causes, one with each connection, are debug messages.
type errorLog struct{ to *slog.Logger }

// Write implements io.Writer.
func (e errorLog) Write(line []byte) (int, error) {
	text, level := strings.TrimSpace(string(line)), slog.LevelWarn
	if strings.HasPrefix(text, "http: TLS handshake error") || strings.HasPrefix(text, "http2: server") {
		level = slog.LevelDebug
	}
	e.to.Log(context.Background(), level, text)
	return len(line), nil
}

// Config configures a Guard. The zero value works.
type Config struct {
	// Proxies are the reverse proxies whose X-Forwarded-For is true.
	Proxies Proxies
	// RequestsPerAddress is how many requests a client address behind a proxy may have at a time, WebSockets included, and any address over HTTP/2; 0 takes 256. Over HTTP/1 the limits of
	// connections are those of requests.
	RequestsPerAddress int

	body, write time.Duration // 0 takes BodyTimeout and WriteTimeout
}

// defaultRequests is Config.RequestsPerAddress where that is 0.
const defaultRequests = 256

// Guard is an http.Handler that limits the clients of another one. It is safe for concurrent use.
type Guard struct {
	cfg  Config
	next http.Handler

	mu       sync.Mutex
	requests map[netip.Prefix]int // the requests in progress of each client that RequestsPerAddress limits
}

// New returns a Guard of next.
func New(next http.Handler, cfg Config) *Guard {
	if cfg.RequestsPerAddress == 0 {
		cfg.RequestsPerAddress = defaultRequests
	}
	if cfg.body == 0 {
		cfg.body = BodyTimeout
	}
	if cfg.write == 0 {
		cfg.write = WriteTimeout
	}
	return &Guard{cfg: cfg, next: next, requests: map[netip.Prefix]int{}}
}

func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	limited := &writer{ResponseWriter: w, control: control, most: g.cfg.write, left: g.cfg.write}
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		done := c.answer()
		defer func() {
			if !limited.hijacked { // a WebSocket has a request for as long as it lives
				done()
			}
		}()
	}
	addr := g.cfg.Proxies.client(r)
	if addr != hostAddr(r.RemoteAddr) || r.ProtoMajor > 1 {
		network := Network(addr)
		if !g.begin(network) {
			w.Header().Set("Retry-After", "10")
			http.Error(w, "this address has as many requests at a time as it may: end one of them", http.StatusTooManyRequests)
			return
		}
		defer g.end(network)
	}
	_ = control.SetWriteDeadline(time.Time{}) // a writer without deadlines is no network connection
	defer limited.last()
	guarded := WithClient(r, addr) // a copy: net/http looks at the body of its own request, to see what of it the handler has not read
	if r.Body == nil || r.Body == http.NoBody {
		_ = control.SetReadDeadline(time.Time{}) // net/http reads on, to see whether the client is gone
	} else {
		_ = control.SetReadDeadline(time.Now().Add(g.cfg.body))
		guarded.Body = &body{ReadCloser: r.Body, control: control}
		if limited.body, _ = guarded.Body.(*body); r.ProtoMajor > 1 {
			limited.body = nil // HTTP/2 has no need of it
		}
	}
	g.next.ServeHTTP(limited, guarded)
}

// begin counts a request. It reports false if its client has too many.
func (g *Guard) begin(of netip.Prefix) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.requests[of] >= g.cfg.RequestsPerAddress {
		return false
	}
	g.requests[of]++
	return true
}

func (g *Guard) end(of netip.Prefix) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.requests[of]--; g.requests[of] == 0 {
		delete(g.requests, of)
	}
}

// errLate is the error of a body that comes too slowly.
var errLate = errors.New("it did not come whole in time")

// body is a request's body with a deadline, which ends with the body. The deadline of a body that is not read to its end stands:
// net/http reads the rest before it answers the next request.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	read    atomic.Bool // to its end
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var network *net.OpError // its text has the addresses of the connection
	switch {
	case errors.Is(err, io.EOF):
		b.read.Store(true)
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.As(err, &network) && network.Timeout():
		err = errLate
	case errors.As(err, &network):
		err = network.Err
	}
	return n, err
}

// writer is a response whose client must read it. Each write has a deadline. Between the writes there is none, so that a stream of events lives on.
type writer struct {
	http.ResponseWriter
	control  *http.ResponseController
	most     time.Duration // how long writes may take that the client reads too slowly
	left     time.Duration // what is left of it, and the time for the bytes of the present write
	hijacked bool          // the handler has taken the connection, and its deadlines are the handler's
	body     *body         // of a request over HTTP/1 that has not begun its response; nil for none
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// begin has the response come before the body is read whole, which the handler does not read: net/http would read it first. The connection ends then.
func (w *writer) begin(status int) {
	if w.body == nil || status < http.StatusOK || w.body.read.Load() {
		return
	}
	w.body = nil
	_ = w.control.EnableFullDuplex() // every server for HTTP/1 can
	w.Header().Set("Connection", "close")
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffered, err := w.control.Hijack()
	w.hijacked = w.hijacked || err == nil
	return c, buffered, err
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (n int, err error) {
	w.begin(http.StatusOK)
	w.left = min(w.left, w.most) + time.Duration(len(p))*time.Second/slowestReader
	w.within(func() { n, err = w.ResponseWriter.Write(p) })
	return n, err
}

// Flush implements http.Flusher.
func (w *writer) Flush() { w.within(func() { _ = w.control.Flush() }) }

// within writes within the time that is left.
func (w *writer) within(write func()) {
	began := time.Now()
	_ = w.control.SetWriteDeadline(began.Add(w.left))
	write()
	w.left -= time.Since(began)
	if w.left > 0 {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// last gives a deadline to what net/http writes after the handler.
func (w *writer) last() {
	if !w.hijacked {
		w.begin(http.StatusOK)
		_ = w.control.SetWriteDeadline(time.Now().Add(max(w.left, 0)))
	}
}
