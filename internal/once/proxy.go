package once

// The reverse proxy: sends each request with a key over a connection of its own.

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// Proxy is the handler of an HTTP service elsewhere. A request of a Handler goes over a new connection: a failed connection is then known to have
// sent nothing, and net/http never sends the request a second time. Other requests share connections.
type Proxy struct {
	reverse httputil.ReverseProxy
	shared  *http.Transport
	to      *url.URL
	tls     *tls.Config
	dial    net.Dialer
}

// Times for the service.
const (
	dialTimeout = 5 * time.Second
	idleTimeout = 30 * time.Second
)

// NewProxy returns a Proxy to a service such as http://127.0.0.1:9000. The path of upstream comes before the path of a request. header limits the
// time until the service's response begins, for requests without a key; 0 takes 60 s. secured may be nil. logger may be nil.
func NewProxy(upstream *url.URL, header time.Duration, secured *tls.Config, logger *slog.Logger) (*Proxy, error) {
	if (upstream.Scheme != "http" && upstream.Scheme != "https") || upstream.Hostname() == "" || upstream.RawQuery != "" || upstream.Fragment != "" {
		return nil, fmt.Errorf("%s: want a URL such as http://127.0.0.1:9000", upstream.Redacted())
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if secured == nil {
		secured = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	p := &Proxy{to: upstream, tls: secured.Clone(), dial: net.Dialer{Timeout: dialTimeout, KeepAlive: idleTimeout}}
	p.tls.NextProtos = []string{"http/1.1"}
	if p.tls.ServerName == "" {
		p.tls.ServerName = upstream.Hostname()
	}
	p.shared = &http.Transport{
		TLSClientConfig: p.tls, TLSHandshakeTimeout: dialTimeout, DisableCompression: true,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: idleTimeout, ResponseHeaderTimeout: cmp.Or(header, time.Minute), MaxResponseHeaderBytes: maxHeader,
	}
	p.shared.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return p.dial.DialContext(ctx, network, address)
	}
	p.reverse = httputil.ReverseProxy{
		Transport: p, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if rec, is := w.(*recorder); is {
				rec.fail(err)
				return
			}
			logger.Warn("once: the service gave no response", "err", err)
			writeProblem(w, http.StatusBadGateway, CodeUpstream, "the service behind this proxy gave no response")
		},
	}
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.reverse.ServeHTTP(w, r) }

// CloseIdleConnections closes the shared connections that carry no request.
func (p *Proxy) CloseIdleConnections() { p.shared.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper, for the reverse proxy.
func (p *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	c, claimed := r.Context().Value(claimKey{}).(*claim)
	if !claimed {
		return p.shared.RoundTrip(r)
	}
	conn, err := p.connect(r.Context())
	if err != nil {
		return nil, fmt.Errorf("the service cannot be reached: %w", err)
	}
	if err := c.sending(r.Context()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	once := over(conn)
	response, err := once.RoundTrip(unrepeatable(r))
	once.CloseIdleConnections() // now, or when the response has come to its end
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	response.Body = &watched{response.Body, c.rec}
	return response, nil
}

// watched is the body of a response. It tells the recorder if the body does not come to its end.
type watched struct {
	io.ReadCloser
	rec *recorder
}

// Read implements io.Reader.
func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.rec.fail(err)
	}
	return n, err
}

// connect opens a connection to the service, with TLS for https.
func (p *Proxy) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	port := p.to.Port()
	if port == "" {
		port = p.to.Scheme // "http" and "https" are names of ports
	}
	conn, err := p.dial.DialContext(ctx, "tcp", net.JoinHostPort(p.to.Hostname(), port))
	if err != nil || p.to.Scheme == "http" {
		return conn, err
	}
	secured := tls.Client(conn, p.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secured, nil
}

// errSecond: a connection of its own is used for one request.
var errSecond = errors.New("a request with a key is sent once")

// over returns a transport that sends one request over the connection. The request does not say that it is the last one: a service that has not read the whole body
// may then close the connection in a way that destroys its response on the way.
func over(conn net.Conn) *http.Transport {
	only := make(chan net.Conn, 1)
	only <- conn
	take := func(context.Context, string, string) (net.Conn, error) {
		select {
		case conn := <-only:
			return conn, nil
		default:
			return nil, errSecond
		}
	}
	return &http.Transport{
		DialContext: take, DialTLSContext: take, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
	}
}

// unrepeatable returns the request with a body that net/http cannot send again. net/http takes the header Idempotency-Key for the permission to
// repeat a request that has no body. The request does not ask for another protocol: its response could not be stored.
func unrepeatable(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	out.GetBody = nil
	out.Header.Del("Upgrade")
	out.Header.Del("Connection")
	if out.Body == nil || out.Body == http.NoBody {
		out.Body = struct{ io.ReadCloser }{http.NoBody}
	}
	return out
}
