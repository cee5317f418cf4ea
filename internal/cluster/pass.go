package cluster

// Passing on: sends a request to the server that has its call, once, and within a time.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"sync"
	"syscall"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// Times of a request that is passed on.
const (
	// reachWithin is how long the other server may take to say that it has the request: see Config.Reach.
	reachWithin = time.Second
	// answerWithin is how long it may take for its response.
	answerWithin = 15 * time.Second
	// quietFor is how long a connection may carry nothing. Over a WebSocket the owner of the call pings every 20 s.
	quietFor = time.Minute
	// writeWithin is how long a write may take.
	writeWithin = 30 * time.Second
	// maxBody is the longest body that is passed on, in bytes. The API takes no longer one for a call.
	maxBody = 1 << 20
)

// Results of a request that is passed on.
const (
	resultAnswered    = "answered"
	resultRefused     = "refused"     // the other server does not have the call
	resultUnreachable = "unreachable" // no connection, or no answer in time
	resultLeft        = "client_left" // the client has not waited for the response
)

var results = []string{resultAnswered, resultRefused, resultUnreachable, resultLeft}

// passedKey is the key of a request's context that says that the request is not passed on again.
type passedKey struct{}

// Arrived returns a request as its client has sent it: with the client's address, if another server has passed it on. A request that says that it was passed on, rightly or
// not, stays here.
func (n *Node) Arrived(w http.ResponseWriter, r *http.Request) *http.Request {
	if len(r.Header.Values(header)) == 0 {
		return r
	}
	client, ok := n.key.passenger(n.id, r)
	r = r.WithContext(context.WithValue(r.Context(), passedKey{}, true))
	r.Header.Del(header)
	if !ok {
		return r
	}
	w.WriteHeader(http.StatusProcessing) // the other server waits for this for reachWithin, and for the response for longer
	return httpguard.WithClient(r, client)
}

// Mark returns a text of at most 64 letters and digits with the mark of this server: an id or a token. Each server of the cluster finds this one by it.
func (n *Node) Mark(text string) string { return n.key.mark(n.id, text) }

// sending says where a request goes.
type sending struct {
	to         *peer
	anew       bool // it begins a call; otherwise it is about one
	reconnects bool // the request reconnects a call, which this server can take over
}

// refused reports whether the client gets another response than that of the other server, because that server does not have the call, or does not take it.
func (s sending) refused(status int) bool {
	switch status {
	case http.StatusNotFound:
		return true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return s.anew || s.reconnects
	case http.StatusUnauthorized, http.StatusForbidden:
		return s.anew
	}
	return s.anew && status >= http.StatusInternalServerError
}

var (
	// errRefused: the other server does not answer the request.
	errRefused = errors.New("the other server refused")
	// errSilent: the other server has not said within the time that it has the request.
	errSilent = errors.New("it has not said in time that it has the request: it hangs, or its --node-url leads elsewhere")
)

// trip sends one request to another server, and notes what came of it.
type trip struct {
	http.RoundTripper
	failed bool           // no response came: the other server may be gone
	answer *http.Response // nil for none
}

// RoundTrip implements http.RoundTripper.
func (t *trip) RoundTrip(r *http.Request) (*http.Response, error) {
	asks := false // a request that cannot be written asks for no connection
	trace := httptrace.ClientTrace{GetConn: func(string) { asks = true }}
	var err error
	t.answer, err = t.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &trace)))
	t.failed = err != nil && asks
	return t.answer, err
}

// send sends a request to another server. It reports false if nothing was answered, or if the other server refuses.
func (n *Node) send(w http.ResponseWriter, r *http.Request, s sending) (answered bool) {
	body, ok := keepBody(r)
	if !ok {
		return false
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	silent := time.AfterFunc(n.cfg.Reach, func() { cancel(errSilent) })
	defer silent.Stop()
	var failure error
	sent := &trip{RoundTripper: n.transport}
	proxy := httputil.ReverseProxy{
		Transport: sent, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(s.to.url)
			if s.anew {
				p.Out.Header.Del("Idempotency-Key") // this server answers its further tries
			}
			p.Out.Host = p.In.Host
			client := httpguard.Client(p.In)
			if client.IsValid() {
				p.Out.Header.Set("X-Forwarded-For", client.String())
			}
			p.Out.Header.Set(header, n.key.passage(s.to.id, client, p.Out))
		},
		ModifyResponse: func(response *http.Response) error {
			silent.Stop()
			if s.refused(response.StatusCode) {
				return errRefused
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { failure = err },
	}
	out := r.WithContext(ctx)
	out.Trailer = nil // the API knows none, and a name that is no name could not be sent
	if body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	response := &passing{ResponseWriter: w, header: http.Header{}, reached: silent.Stop, begin: sync.OnceFunc(func() { n.count(resultAnswered) })}
	proxy.ServeHTTP(response, out)
	switch {
	case response.begun: // a failure is of the client, or comes too late for another response
		return true
	case errors.Is(failure, errRefused):
		n.count(resultRefused)
		if s.anew && sent.answer.StatusCode == http.StatusServiceUnavailable { // any other status may be for this client alone
			n.table.refused(s.to.id, time.Now())
		}
	case r.Context().Err() != nil:
		n.count(resultLeft)
	case !sent.failed: // the request is one that cannot be passed on, such as to a protocol that the other server does not speak
		n.count(resultRefused)
		if sent.answer != nil {
			_ = sent.answer.Body.Close() // a ReverseProxy leaves the connection open if it is one of another protocol
		}
	default:
		if errors.Is(context.Cause(ctx), errSilent) {
			failure = errSilent
		}
		n.count(resultUnreachable)
		if n.table.failed(s.to.id, time.Now()) {
			n.cfg.Logger.Warn("cluster: another server did not answer", "name", s.to.Name, "url", s.to.URL, "err", failure)
		}
	}
	return false
}

// count notes what came of a request.
func (n *Node) count(result string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.passed[result]++
}

// keepBody reads the body of a request, so that it can be sent and still be read; nil for a request without one. ok is false for a body that is too long, or that cannot be read.
func keepBody(r *http.Request) (body []byte, ok bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, true
	}
	rest := r.Body
	body, err := io.ReadAll(io.LimitReader(rest, maxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), rest}
	return body, err == nil && len(body) <= maxBody
}

// newTransport returns the way to other servers. Each request has a connection of its own: a connection that was open before may be closed by the other end
// at the moment when the request is written. reach limits the time until it is open, and quiet the time without a byte of the other server.
func newTransport(reach, quiet time.Duration) *http.Transport {
	dialer := net.Dialer{Timeout: reach, KeepAlive: writeWithin}
	only1 := &http.Protocols{}
	only1.SetHTTP1(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &patient{c, quiet}, nil
		},
		TLSHandshakeTimeout: reach, ResponseHeaderTimeout: answerWithin, MaxResponseHeaderBytes: 64 << 10,
		DisableCompression: true, DisableKeepAlives: true, Protocols: only1,
	}
}

// patient is a connection whose reads and writes have deadlines.
type patient struct {
	net.Conn
	quiet time.Duration // how long a read waits; 0 waits for ever, on the connection of a client
}

// Read implements net.Conn.
func (c *patient) Read(p []byte) (int, error) {
	if c.quiet > 0 {
		if err := c.SetReadDeadline(time.Now().Add(c.quiet)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn. Another server may answer and close the connection before it has read the whole request: the answer, or that there is none, is to be read then.
func (c *patient) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if c.quiet > 0 && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		return len(p), nil
	}
	return n, err
}

// passing is the response to a request that is passed on. Its headers reach the client only with the response, so that a request that was not answered can be answered here.
type passing struct {
	http.ResponseWriter
	header  http.Header
	reached func() bool // is called when the other server says that it has the request
	begun   bool        // the client has a part of the response
	begin   func()      // is called when the client gets a part of the response
}

// The methods of http.ResponseWriter.
func (p *passing) Header() http.Header { return p.header }

func (p *passing) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		p.reached()
		return
	}
	p.begun = true
	p.begin()
	to := p.ResponseWriter.Header()
	for name, values := range p.header {
		to[name] = values
	}
	p.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher.
func (p *passing) Flush() { _ = http.NewResponseController(p.ResponseWriter).Flush() }

// Hijack implements http.Hijacker. Over a WebSocket the owner of the call pings its client, and so notices a client that is gone.
func (p *passing) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	p.begun = true
	p.begin()
	c, buffered, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &patient{Conn: c}, buffered, nil
}
