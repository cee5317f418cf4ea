package bargein

// The HTTP server of the pages that the clients run in.

import (
	_ "embed"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

//go:embed page.js
var pageJS string

//go:embed others.js
var othersJS string

// installed is the folder into which scripts/bench-bargein.sh installs the other clients.
const installed = "../../.cache/bargein"

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

// newSite serves scripts by their paths, and in each of their folders a page that has the script page.js. It ends with the test.
func newSite(t testing.TB, scripts map[string][]byte) (url string) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		script, text := scripts[q.URL.Path], "text/javascript; charset=utf-8"
		if strings.HasSuffix(q.URL.Path, "/") {
			script, text = []byte(page), "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", text)
		_, _ = w.Write(script) // writing fails when the browser is gone
	}))
	t.Cleanup(site.Close)
	return site.URL
}
