package main

// This file measures one store: its writes, and requests through a proxy that uses it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// kept is a way to keep the keys.
type kept struct {
	name     string
	files    bool
	unsynced bool
}

var stores = []kept{{name: "memory"}, {name: "files, not synced", files: true, unsynced: true}, {name: "files, synced", files: true}}

// startService starts a service that answers at once.
func startService() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a client that is gone has no time to measure
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
}

// measure prints the rows of one store. Runs are the last.
func (k kept) measure(ctx context.Context, folder, service string, n int, t *table) (err error) {
	cfg := store.Config{Unsynced: k.unsynced}
	if k.files {
		cfg.Dir = folder
	}
	begin := time.Now()
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := t.bare(k.name+": start of the store", func() ([]time.Duration, error) { return []time.Duration{time.Since(begin)}, nil }); err != nil {
		return err
	}
	if err := t.row(k.name+": one write", func() ([]time.Duration, error) { return writes(ctx, s, n) }); err != nil {
		return err
	}
	to, err := url.Parse(service)
	if err != nil {
		return err
	}
	proxy, err := once.NewProxy(to, 0, nil, nil)
	if err != nil {
		return err
	}
	defer proxy.CloseIdleConnections()
	handler, err := once.New(ctx, proxy, once.Config{Store: s, PerPrincipal: once.Quota{Keys: 2 * maxRequests}})
	if err != nil {
		return err
	}
	through := httptest.NewServer(handler)
	defer through.Close()
	for _, part := range []struct {
		name string
		key  func(int) string
	}{{"a request without a key", noKey}, {"the first try of a key", newKey}, {"a replay", newKey}} {
		if err := t.row(k.name+": "+part.name, func() ([]time.Duration, error) { return requests(ctx, through.URL, n, part.key) }); err != nil {
			return err
		}
	}
	if err := measureRuns(ctx, s, k.name, n, t); err != nil {
		return err
	}
	if err := t.bare(k.name+": a run that its process has left, from the start of the next one to the message of its end", func() ([]time.Duration, error) {
		return resumes(ctx, s, min(n, maxResumes))
	}); err != nil {
		return err
	}
	return t.bare(fmt.Sprintf("%s: a call with %d items is taken over", k.name, callItems), func() ([]time.Duration, error) {
		return takeovers(ctx, s, min(n, maxTakeovers))
	})
}

// writes stores n values of 512 bytes.
func writes(ctx context.Context, s *store.Store, n int) (times []time.Duration, err error) {
	b, err := s.Bucket(ctx, store.BucketConfig{Name: "bench"})
	if err != nil {
		return nil, err
	}
	value := make([]byte, 512)
	for i := range n {
		begin := time.Now()
		if _, err := b.Update(ctx, fmt.Sprint("k", i), value, 0); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
}

func noKey(int) string    { return "" }
func newKey(i int) string { return fmt.Sprint("key-", i) }

// requests sends n requests one after another.
func requests(ctx context.Context, to string, n int, key func(int) string) (times []time.Duration, err error) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for i := range n {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, to+"/orders", strings.NewReader(`{"item":7}`))
		if err != nil {
			return nil, err
		}
		if k := key(i); k != "" {
			r.Header.Set(once.Header, k)
		}
		begin := time.Now()
		if err := answered(client, r); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
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
