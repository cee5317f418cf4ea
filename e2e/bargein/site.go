package main

// The HTTP server of the pages that the clients run in.

import (
	_ "embed"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

//go:embed page.js
var pageJS string

//go:embed others.js
var othersJS string

// installed is the folder into which scripts/bench-bargein.sh installs the other clients.
const installed = ".cache/bargein"

// site serves the page that uses the clients. Its origin is not the server's.
type site struct {
	url    string
	http   *http.Server
	served chan error
}

// pack bundles a page's script with everything that it imports, as the page's author does.
func pack(script, folder string) ([]byte, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	built := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: script, ResolveDir: absolute, Loader: api.LoaderJS},
		Bundle: true, Platform: api.PlatformBrowser, Format: api.FormatIIFE, Target: api.ES2022, LogLevel: api.LogLevelSilent,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
	})
	if len(built.Errors) > 0 {
		return nil, errors.New("the page does not bundle: " + built.Errors[0].Text + " (run scripts/bench-bargein.sh)")
	}
	return built.OutputFiles[0].Contents, nil
}

// page is the HTML around a script.
const page = `<!doctype html><title>a page</title><link rel="icon" href="data:,"><body style="height:100vh"><script src="page.js"></script>`

// newSite serves scripts by their paths, and in each of their folders a page that has the script page.js.
func newSite(scripts map[string][]byte) (*site, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, q *http.Request) {
		script, text := scripts[q.URL.Path], "text/javascript; charset=utf-8"
		if strings.HasSuffix(q.URL.Path, "/") {
			script, text = []byte(page), "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", text)
		_, _ = w.Write(script) // writing fails when the browser is gone
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{url: "http://" + listener.Addr().String(), http: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, served: make(chan error, 1)}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

func (s *site) close() error {
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
