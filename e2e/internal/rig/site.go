package rig

// A site of another origin whose pages may call a server. The tests of the script, of the examples and of the release share it.

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// Site is an origin with pages, and a server with the scripted pipeline that the pages may call. Both end with the test.
type Site struct {
	URL    string
	Server *Server
	// CloseServer ends the server before the test does.
	CloseServer func() error
}

// NewSite starts both. serve answers a request for a page; server is the URL of the server.
func NewSite(t *testing.T, serve func(w http.ResponseWriter, r *http.Request, server string)) *Site {
	t.Helper()
	s := &Site{}
	// The site starts first, because the server needs its origin.
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, s.Server.URL) }))
	s.URL = origin.URL
	p := scripted.New(scripted.Options{})
	var err error
	if s.Server, err = Serve(p, slog.New(slog.DiscardHandler), origin.URL); err != nil {
		origin.Close()
		t.Fatal(err)
	}
	s.CloseServer = sync.OnceValue(s.Server.Close)
	t.Cleanup(func() {
		origin.Close()
		if err := s.CloseServer(); err != nil {
			t.Errorf("the server ends: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("the pipeline ends: %v", err)
		}
	})
	return s
}

// StartBrowser launches a browser that ends with the test.
func StartBrowser(t *testing.T, o Options) *Browser {
	t.Helper()
	b, err := Launch(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Visit opens the first page of the site in a tab that closes with the test. The log of a test that fails has what the browser
// complains of, and failed, if it is not nil, is called before the tab closes.
func (s *Site) Visit(t *testing.T, b *Browser, failed func(tab *Tab)) *Tab {
	t.Helper()
	tab, err := b.Open(s.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			if failed != nil {
				failed(tab)
			}
			complaints, err := tab.Complaints()
			t.Log("the browser complains of", complaints, err)
		}
		tab.Close()
	})
	return tab
}
