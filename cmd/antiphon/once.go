package main

// This file has `antiphon once`: a reverse proxy that lets each request with an idempotency key through once.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
	idempotent "github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/store"
)

type once struct {
	Upstream        string        `required:"" placeholder:"URL" help:"The service behind the proxy, such as http://127.0.0.1:9000."`
	Listen          string        `default:"127.0.0.1:8081" placeholder:"HOST:PORT" help:"Address for HTTP. Port 0 takes a free one."`
	Safe            []string      `sep:"none" placeholder:"'METHOD /path'" help:"An operation that may be repeated, as a pattern of Go's ServeMux such as 'PUT /orders/{id}'. If a try dies, another one sends such a request again. May be given several times."`
	Required        bool          `help:"Refuse a request without a key, unless its method changes nothing."`
	PrincipalHeader string        `default:"Authorization" placeholder:"NAME" help:"The header that says who sends a request. Keys of different senders have nothing in common."`
	Keep            time.Duration `default:"24h" help:"How long a key and its response are kept: 1m to 720h."`
	Timeout         time.Duration `default:"60s" help:"How long the service may take for one request: 1s to 1h."`
	MaxBody         int           `default:"1048576" placeholder:"BYTES" help:"Longest body of a request with a key: 1 to 67108864."`
	MaxResponse     int           `default:"4194304" placeholder:"BYTES" help:"Longest response that is kept: 1 to 67108864."`
	MaxBytes        int64         `default:"1073741824" placeholder:"BYTES" help:"Limit of everything that is kept: at least 16777216."`
	TrustedProxy    []string      `placeholder:"ADDRESS" help:"Addresses or networks of reverse proxies, whose X-Forwarded-For says who the client is."`
	Drain           time.Duration `default:"30s" help:"How long requests may take to end when the proxy stops."`
	logging
	storage

	bound func(address string) // gets the address on which the proxy listens; nil prints it
}

// Bounds of the flags of once.
const (
	minKeep, maxKeep       = time.Minute, 720 * time.Hour
	minTimeout, maxTimeout = time.Second, time.Hour
	mostBytes              = 64 << 20
	leastStore             = 16 << 20
)

// Run serves until ctx is done. It prints "listening on URL" when the proxy is ready.
func (c *once) Run(ctx context.Context) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	safe, err := safeRoutes(c.Safe)
	if err != nil {
		return err
	}
	proxies, err := httpguard.ParseProxies(c.TrustedProxy)
	if err != nil {
		return fmt.Errorf("--trusted-proxy: %w", err)
	}
	logger, err := c.logger(os.Stderr)
	if err != nil {
		return err
	}
	upstream, err := url.Parse(c.Upstream)
	if err != nil {
		return fmt.Errorf("--upstream: %w", err)
	}
	proxy, err := idempotent.NewProxy(upstream, c.Timeout, nil, logger)
	if err != nil {
		return fmt.Errorf("--upstream %w", err)
	}
	defer proxy.CloseIdleConnections()
	if c.Data == "" && c.NATS == "" {
		logger.Warn("keys and responses are in memory: a request that is tried again after this process has ended is sent again. Name a folder with --data")
	}
	keys, err := store.Open(ctx, store.Config{Dir: c.Data, URL: c.NATS, Replicas: c.replicas(), MaxBytes: c.MaxBytes, Logger: logger})
	if err != nil {
		return fmt.Errorf("--data, --nats: %w", err)
	}
	defer func() { err = errors.Join(err, keys.Close()) }()
	handler, err := idempotent.New(ctx, proxy, idempotent.Config{
		Store: keys, Required: c.Required, Safe: safe, Keep: c.Keep, Timeout: c.Timeout, MaxBody: c.MaxBody, MaxResponse: c.MaxResponse,
		Principal: func(r *http.Request) string { return strings.Join(r.Header.Values(c.PrincipalHeader), "\n") }, Logger: logger,
	})
	if err != nil {
		return err
	}
	return c.serve(ctx, withHealth(handler, keys), proxies, logger)
}

// check returns an error for a flag that is out of its bounds.
func (c *once) check() error {
	if err := c.storage.check(); err != nil {
		return err
	}
	switch {
	case c.Keep < minKeep || c.Keep > maxKeep:
		return fmt.Errorf("--keep %v: want %v to %v", c.Keep, minKeep, maxKeep)
	case c.Timeout < minTimeout || c.Timeout > maxTimeout:
		return fmt.Errorf("--timeout %v: want %v to %v", c.Timeout, minTimeout, maxTimeout)
	case c.Drain < 0 || c.Drain > maxTimeout:
		return fmt.Errorf("--drain %v: want 0s to %v", c.Drain, maxTimeout)
	case c.MaxBody < 1 || c.MaxBody > mostBytes:
		return fmt.Errorf("--max-body %d: want 1 to %d", c.MaxBody, mostBytes)
	case c.MaxResponse < 1 || c.MaxResponse > mostBytes:
		return fmt.Errorf("--max-response %d: want 1 to %d", c.MaxResponse, mostBytes)
	case c.MaxBytes < leastStore:
		return fmt.Errorf("--max-bytes %d: want at least %d", c.MaxBytes, leastStore)
	case c.PrincipalHeader == "":
		return errors.New("--principal-header: want the name of a header")
	}
	return nil
}

// safeRoutes returns a function that reports whether a request matches one of the patterns.
func safeRoutes(patterns []string) (safe func(*http.Request) bool, err error) {
	mux := http.NewServeMux()
	for _, p := range patterns {
		if method, path, _ := strings.Cut(p, " "); method != strings.ToUpper(method) || !strings.HasPrefix(strings.TrimSpace(path), "/") {
			return nil, fmt.Errorf("--safe %q: want a method and a path, such as 'PUT /orders/{id}'", p)
		}
		if err := register(mux, p); err != nil {
			return nil, fmt.Errorf("--safe %q: %w", p, err)
		}
	}
	return func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return pattern != ""
	}, nil
}

// register gives a pattern to a mux. The mux panics on a pattern that is wrong.
func register(mux *http.ServeMux, pattern string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	mux.Handle(pattern, http.NotFoundHandler())
	return nil
}

// withHealth answers /healthz: 200 if the store answers, 503 if not. All else goes to the handler.
func withHealth(h http.Handler, keys *store.Store) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			h.ServeHTTP(w, r)
			return
		}
		if err := keys.Healthy(r.Context()); err != nil {
			http.Error(w, "the store of the keys does not answer", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok") // a client that is gone asks again
	})
}

// serve serves HTTP until ctx is done, and then until the requests in progress have ended.
func (c *once) serve(ctx context.Context, h http.Handler, proxies httpguard.Proxies, logger *slog.Logger) error {
	inner, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("%w: is another server running? Choose another address with --listen", err)
	}
	listener := httpguard.Listen(inner, httpguard.Limits{Proxies: proxies})
	server := httpguard.Server(httpguard.New(h, httpguard.Config{Proxies: proxies}), logger)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if c.bound != nil {
		c.bound(inner.Addr().String())
	} else {
		fmt.Printf("listening on http://%s\n", displayHost(inner.Addr().String(), c.Listen))
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(c.Drain, time.Millisecond))
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return fmt.Errorf("requests did not end within --drain %v: their keys say what became of them: %w", c.Drain, errors.Join(err, server.Close()))
	}
	return nil
}
