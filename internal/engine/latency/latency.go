// Package latency measures what an adapter adds to the server that it calls. It is for benchmarks.
package latency

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// Adapter is one adapter and the server that it calls.
type Adapter struct {
	Path  string // of the request, behind the address of the server
	Type  string // the media type of the answer
	First string // the begin of the answer, with the first token or the first sound
	Rest  string // the rest of it
	// Call calls the adapter for the server at this address. It calls first when the first token or sound is there, and returns at the end.
	Call func(ctx context.Context, url string, first func()) error
}

// Run measures the time to the first token or sound, of the adapter and of a plain HTTP client, in turns. It reports the medians and 95th
// percentiles of the plain client, and what the adapter adds to them, in milliseconds.
func Run(b *testing.B, a Adapter) {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", a.Type)
		_, _ = io.WriteString(w, a.First)
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, a.Rest)
	}))
	defer s.Close()
	var raw, adapted []time.Duration
	for b.Loop() {
		raw = append(raw, a.raw(b, s.URL))
		begin, took := time.Now(), time.Duration(0)
		err := a.Call(context.Background(), s.URL, func() {
			if took == 0 {
				took = time.Since(begin)
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		adapted = append(adapted, took)
	}
	for _, p := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p95", 0.95}} {
		direct, through := percentile(raw, p.share), percentile(adapted, p.share)
		b.ReportMetric(direct, "raw-"+p.name+"-ms")
		b.ReportMetric(through-direct, "added-"+p.name+"-ms")
	}
}

// Cancel measures the time from the end of a call's context to the moment in which the server sees that the request is closed.
func Cancel(b *testing.B, a Adapter) {
	b.Helper()
	closed := make(chan time.Time, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", a.Type)
		_, _ = io.WriteString(w, a.First)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		closed <- time.Now()
	}))
	defer s.Close()
	var took []time.Duration
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		var cancelled time.Time
		_ = a.Call(ctx, s.URL, func() {
			if cancelled.IsZero() {
				cancelled = time.Now()
				cancel()
			}
		}) // the error of ctx
		took = append(took, (<-closed).Sub(cancelled))
		cancel()
	}
	b.ReportMetric(percentile(took, 0.5), "closed-p50-ms")
	b.ReportMetric(percentile(took, 0.95), "closed-p95-ms")
}

// raw returns how long a plain client waits for the first bytes.
func (a Adapter) raw(b *testing.B, url string) time.Duration {
	b.Helper()
	begin := time.Now()
	answer, err := http.Post(url+a.Path, "application/json", strings.NewReader(`{"stream":true}`))
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.ReadFull(answer.Body, make([]byte, len(a.First))); err != nil {
		b.Fatal(err)
	}
	took := time.Since(begin)
	_, _ = io.Copy(io.Discard, answer.Body)
	return took
}

// percentile returns a percentile in milliseconds.
func percentile(all []time.Duration, share float64) float64 {
	slices.Sort(all)
	return float64(all[int(share*float64(len(all)-1))].Microseconds()) / 1000
}
