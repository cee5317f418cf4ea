package once

// Helpers of the tests: a handler before a service, and a client that sends requests with keys.

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// memory opens a store in memory.
func memory(t *testing.T) *store.Store { return opened(t, store.Config{}) }

func opened(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute // a busy machine is not what these tests are about
	}
	s, err := store.Open(t.Context(), cfg)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = s.Close() }) // a test may have closed it
	return s
}

// before returns a Handler before a handler of this process.
func before(t *testing.T, cfg Config, next http.HandlerFunc) *Handler {
	t.Helper()
	if cfg.Store == nil {
		cfg.Store = memory(t)
	}
	if cfg.Lease == 0 {
		cfg.Lease = time.Hour
	}
	h, err := New(t.Context(), next, cfg)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return h
}

// beforeService returns a Handler before a Proxy to a service with this URL.
func beforeService(t *testing.T, cfg Config, service string) *Handler {
	t.Helper()
	g := gomega.NewWithT(t)
	u, err := url.Parse(service)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := NewProxy(u, 0, nil, nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(p.CloseIdleConnections)
	if cfg.Store == nil {
		cfg.Store = memory(t)
	}
	if cfg.Lease == 0 {
		cfg.Lease = time.Hour
	}
	h, err := New(t.Context(), p, cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return h
}

// request makes a POST request with a key; "" is none.
func request(t *testing.T, path, key, body string, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader([]byte(body)))
	if key != "" {
		r.Header.Set(Header, key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// send gives a request to a handler and returns the response with its body.
func send(h http.Handler, r *http.Request) (*http.Response, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	response := w.Result()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err) // a recorder's body is in memory
	}
	return response, string(body)
}

// checkTrace gives the events of a record's versions to the machine and to its monitor. It returns how many steps there were and what is wrong, or "".
func checkTrace(versions []record) (steps int, wrong string) {
	state, seen := idempotency.State(idempotency.Free{}), idempotency.Seen{}
	for _, v := range versions {
		for _, e := range v.Events {
			next, effects, row := idempotency.Table.Next(state, e)
			edge := machineEdge{From: state, Event: e, To: next, Effects: effects, Row: row}
			if seen, wrong = idempotency.Monitor.Watch(seen, edge); wrong != "" {
				return steps, wrong
			}
			if locked, is := state.(idempotency.Locked); is && !locked.Sent && next.Name() == (idempotency.Cached{}).Name() {
				return steps, "a response is stored of a request that was not sent"
			}
			state = next
			steps++
		}
		if state != v.State {
			return steps, "the stored state is not the machine's"
		}
	}
	return steps, ""
}

// history returns the versions of a key's record.
func history(t *testing.T, b *book, key string) []record {
	t.Helper()
	g := gomega.NewWithT(t)
	entries, err := b.records.History(t.Context(), key)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	versions := make([]record, 0, len(entries))
	for _, e := range entries {
		r, _, err := decode(e)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		versions = append(versions, r)
	}
	return versions
}
