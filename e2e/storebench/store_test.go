package storebench

// This file measures each store: its writes, and requests through a proxy that uses it.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// maxKeys bounds the idempotency keys of a run.
const maxKeys = 200_000

// used numbers what a benchmark needs anew each time, such as a key.
var used atomic.Int64

// BenchmarkFloor appends to a file and syncs it: no store that syncs is faster.
func BenchmarkFloor(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() }) // nobody reads it
	data := make([]byte, 512)
	each(b, func() error {
		_, err := f.Write(data)
		return errors.Join(err, f.Sync())
	})
}

// BenchmarkService sends requests to the service alone.
func BenchmarkService(b *testing.B) {
	service := startService(b)
	requests(b, service, noKey)
}

func BenchmarkStore(b *testing.B) {
	b.Run("memory", func(b *testing.B) { measure(b, store.Config{}) })
	b.Run("files", func(b *testing.B) { measure(b, store.Config{Dir: filepath.Join(b.TempDir(), "data"), Unsynced: true}) })
	b.Run("synced", func(b *testing.B) { measure(b, store.Config{Dir: filepath.Join(b.TempDir(), "data")}) })
}

// measure measures one store.
func measure(b *testing.B, cfg store.Config) {
	s, err := store.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	b.Run("write", func(b *testing.B) { writes(b, s) })
	through := proxy(b, s, startService(b))
	b.Run("request/without-key", func(b *testing.B) { requests(b, through, noKey) })
	b.Run("request/first-try", func(b *testing.B) { requests(b, through, newKey) })
	b.Run("request/replay", func(b *testing.B) {
		key := newKey()
		requests(b, through, func() string { return key })
	})
	measureRuns(b, s)
	b.Run("run/resumed", func(b *testing.B) { resumes(b, s) })
	b.Run("call/taken-over", func(b *testing.B) { takeovers(b, s) })
}

// startService starts a service that answers at once.
func startService(b *testing.B) (at string) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a client that is gone has no time to measure
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	b.Cleanup(service.Close)
	return service.URL
}

// proxy starts a proxy that lets each request with a key through once.
func proxy(b *testing.B, s *store.Store, service string) (at string) {
	to, err := url.Parse(service)
	if err != nil {
		b.Fatal(err)
	}
	proxy, err := once.NewProxy(to, 0, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(proxy.CloseIdleConnections)
	handler, err := once.New(b.Context(), proxy, once.Config{Store: s, PerPrincipal: once.Quota{Keys: maxKeys}})
	if err != nil {
		b.Fatal(err)
	}
	through := httptest.NewServer(handler)
	b.Cleanup(through.Close)
	return through.URL
}

// writes stores values of 512 bytes.
func writes(b *testing.B, s *store.Store) {
	bucket, err := s.Bucket(b.Context(), store.BucketConfig{Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 512)
	each(b, func() error {
		_, err := bucket.Update(b.Context(), fmt.Sprint("k", used.Add(1)), value, 0)
		return err
	})
}

func noKey() string  { return "" }
func newKey() string { return fmt.Sprint("key-", used.Add(1)) }

// requests sends requests one after another.
func requests(b *testing.B, to string, key func() string) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	each(b, func() error {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, to+"/orders", strings.NewReader(`{"item":7}`))
		if err != nil {
			return err
		}
		if k := key(); k != "" {
			r.Header.Set(once.Header, k)
		}
		return answered(client, r)
	})
}

// answered sends a request and reads its response whole.
func answered(client *http.Client, r *http.Request) error {
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}

// each measures what do does, once after another.
func each(b *testing.B, do func() error) {
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin))
	}
	report(b, times)
}

// report reports the quantiles of times, and the memory of this process.
func report(b *testing.B, times []time.Duration) {
	figures.Times(b, "each", times, 50, 99)
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(resident*os.Getpagesize())/1e6, "MB")
}

// Each benchmark runs.
func TestBenchmarks(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(flag.Set("test.benchtime", "2x")).To(gomega.Succeed())
	for _, measure := range []func(*testing.B){BenchmarkFloor, BenchmarkService, BenchmarkStore} {
		failed := true
		testing.Benchmark(func(b *testing.B) {
			measure(b)
			failed = b.Failed()
		})
		g.Expect(failed).To(gomega.BeFalse())
	}
}
