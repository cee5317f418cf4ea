package mcp

// This file has the HTTP client of a connection: the addresses that it may dial, the headers, and the size of an answer.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAnswer is the most bytes of one answer of an MCP server: a page of the list, or the output of a call.
const maxAnswer = 1 << 20

var (
	errAddress  = errors.New("the address of the server is not a public one, and the operator does not allow it")
	errRedirect = errors.New("the server redirects to another host: give the address of that host")
	errSize     = errors.New("the answer is larger than 1 MiB")
)

// client is the HTTP client of one connection. It adds the headers, and keeps to the limits.
type client struct {
	http.Transport

	life    context.Context //nolint:containedctx // of the connection: the end of it cuts all requests
	headers map[string]string
	host    string
	status  atomic.Int64 // of the last answer, if it is an error; else 0
}

// overHTTP returns the transport to a server with a URL. allow decides on each address that is dialled, after DNS; nil allows all.
func overHTTP(life context.Context, n Named, allow func(netip.Addr) bool) (sdk.Transport, *client) {
	dial := &net.Dialer{Timeout: connectTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || allow != nil && !allow(to.Addr()) {
			return errAddress
		}
		return nil
	}}
	u, _ := url.Parse(n.URL) // it is checked
	c := &client{life: life, headers: n.Headers, host: u.Host, Transport: http.Transport{
		DialContext: dial.DialContext, TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: 10 * time.Minute, MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout: time.Minute, MaxConnsPerHost: 32, DisableCompression: true, ForceAttemptHTTP2: true,
	}}
	web := &http.Client{Transport: c, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if to.URL.Host != via[0].URL.Host || to.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
			return errRedirect
		}
		return nil
	}}
	return &sdk.StreamableClientTransport{Endpoint: n.URL, HTTPClient: web, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxAnswer}, c
}

// RoundTrip implements http.RoundTripper.
func (c *client) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	cut := context.AfterFunc(c.life, cancel)
	r = r.Clone(ctx)
	if r.URL.Host == c.host {
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
	}
	answer, err := c.Transport.RoundTrip(r)
	if err != nil {
		cut()
		cancel()
		return nil, err
	}
	c.status.Store(0)
	if answer.StatusCode >= http.StatusBadRequest {
		c.status.Store(int64(answer.StatusCode))
	}
	answer.Body = &limited{ReadCloser: answer.Body, left: maxAnswer, end: func() { cut(); cancel() }}
	return answer, nil
}

// limited is an answer that fails when it is too large.
type limited struct {
	io.ReadCloser

	left int
	end  func()
}

func (l *limited) Close() error {
	defer l.end()
	return l.ReadCloser.Close()
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errSize
	}
	return n, err
}
