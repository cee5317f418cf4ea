package main

// The flags of `antiphon once`, and a proxy that runs, stops and runs again on the same data.

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// plainOnce has the defaults of the flags.
func plainOnce() once {
	return once{
		Upstream: "http://127.0.0.1:1", Listen: "127.0.0.1:0", storage: storage{Replicas: 1}, PrincipalHeader: "Authorization", Keep: time.Hour, Timeout: time.Minute,
		MaxBody: 1 << 20, MaxResponse: 1 << 20, MaxBytes: 64 << 20, Drain: time.Minute, logging: logging{LogLevel: "error"},
	}
}

func TestOnceChecksItsFlags(t *testing.T) {
	for says, change := range map[string]func(*once){
		"--upstream":         func(c *once) { c.Upstream = "localhost:9000" },
		"--data and --nats":  func(c *once) { c.Data, c.NATS = t.TempDir(), "nats://127.0.0.1:1" },
		"--nats-replicas":    func(c *once) { c.Replicas = 3 },
		"--keep":             func(c *once) { c.Keep = time.Second },
		"--timeout":          func(c *once) { c.Timeout = time.Millisecond },
		"--drain":            func(c *once) { c.Drain = -1 },
		"--max-body":         func(c *once) { c.MaxBody = 0 },
		"--max-response":     func(c *once) { c.MaxResponse = 1 << 30 },
		"--max-bytes":        func(c *once) { c.MaxBytes = 1 },
		"--principal-header": func(c *once) { c.PrincipalHeader = "" },
		"--trusted-proxy":    func(c *once) { c.TrustedProxy = []string{"here"} },
		`--safe "/orders"`:   func(c *once) { c.Safe = []string{"/orders"} },
		`--safe "put /x"`:    func(c *once) { c.Safe = []string{"put /x"} },
		`--safe "PUT /{"`:    func(c *once) { c.Safe = []string{"PUT /{"} },
		"another server":     func(c *once) { c.Listen = taken(t) },
	} {
		t.Run(says, func(t *testing.T) {
			c := plainOnce()
			change(&c)
			gomega.NewWithT(t).Expect(c.Run(t.Context())).To(gomega.MatchError(gomega.ContainSubstring(says)))
		})
	}
}

// taken returns an address on which somebody listens until the end of the test.
func taken(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = l.Close() }) // nobody connects
	return l.Addr().String()
}

func TestSafeRoutes(t *testing.T) {
	g := gomega.NewWithT(t)
	safe, err := safeRoutes([]string{"PUT /orders/{id}", "DELETE /all/"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for request, want := range map[string]bool{
		"PUT /orders/7": true, "POST /orders/7": false, "PUT /orders": false, "PUT /orders/7/x": false, "DELETE /all/of/it": true,
	} {
		method, path, _ := strings.Cut(request, " ")
		g.Expect(safe(httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))).To(gomega.Equal(want), request)
	}
}

// run runs a proxy until stop is called, which returns what Run has returned.
func run(t *testing.T, c once) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	bound := make(chan string, 1)
	c.bound = func(address string) { bound <- address }
	go func() { ended <- c.Run(ctx) }()
	select {
	case address := <-bound:
		return "http://" + address, func() error { cancel(); return <-ended }
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	return "", nil
}

func TestOnceRunsAgainOnItsData(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "call ", calls.Add(1)) }))
	defer service.Close()
	c := plainOnce()
	c.Upstream, c.Data = service.URL, filepath.Join(t.TempDir(), "data")
	for i := range 2 {
		url, stop := run(t, c)
		for _, path := range []string{"/orders", "/healthz"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader("x"))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			request.Header.Set("Idempotency-Key", "k")
			response, err := http.DefaultClient.Do(request)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			body, err := io.ReadAll(response.Body)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(response.Body.Close()).To(gomega.Succeed())
			g.Expect(response.StatusCode).To(gomega.Equal(http.StatusOK))
			g.Expect(string(body)).To(gomega.Equal(map[string]string{"/orders": "call 1", "/healthz": "ok\n"}[path]))
			if path == "/orders" {
				g.Expect(response.Header.Get("Idempotency-Replayed") != "").To(gomega.Equal(i == 1))
			}
		}
		http.DefaultClient.CloseIdleConnections()
		g.Expect(stop()).To(gomega.Succeed())
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(1)))
}
