//go:build !js

package web

// The HTTP handler of the Talk page: files, encodings, caching and versions.

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/asset"
	"github.com/antiphon-rt/antiphon/internal/pagescript"
)

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPageIsServedReadable(t *testing.T) {
	g := gomega.NewWithT(t)
	w := get(Handler(Options{}), "/")
	g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
	g.Expect(w.Header().Get("Content-Type")).To(gomega.HavePrefix("text/html"))
	g.Expect(w.Header().Get("Cache-Control")).To(gomega.Equal("no-cache"))
	g.Expect(w.Header().Get("ETag")).NotTo(gomega.BeEmpty())
	g.Expect(w.Header().Get("Content-Security-Policy")).To(gomega.ContainSubstring("default-src 'none'"))
	html := w.Body.String()
	g.Expect(html).To(gomega.ContainSubstring(`data-state="loading"`), "there is something to see before the program is there")
	g.Expect(html).To(gomega.MatchRegexp(`/web/[0-9a-f]{12}/page\.css`))
	g.Expect(html).To(gomega.MatchRegexp(`/web/[0-9a-f]{12}/icon\.svg`))
	g.Expect(html).NotTo(gomega.ContainSubstring("githubusercontent"))
	g.Expect(regexp.MustCompile(`<script[^>]*>\s*\S+?</script>`).FindString(html)).To(gomega.BeEmpty(), "no inline script")
}

// The page of the console is there only if the server has one. All that it loads is there.
func TestTheConsoleIsServedIfAsked(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(get(Handler(Options{}), "/console").Code).To(gomega.Equal(http.StatusNotFound))
	h := Handler(Options{Console: true})
	w := get(h, "/console")
	g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
	g.Expect(w.Header().Get("Content-Security-Policy")).To(gomega.Equal(policy))
	html := w.Body.String()
	g.Expect(html).NotTo(gomega.ContainSubstring("FILES"))
	for _, file := range regexp.MustCompile(`/web/[^"]*`).FindAllString(html, -1) {
		g.Expect(get(h, file).Code).To(gomega.Equal(http.StatusOK), file)
	}
	g.Expect(get(h, "/").Body.String()).NotTo(gomega.Equal(html))
}

// A page for semantic_vad says so in its head, and no browser takes it for the page without.
func TestPageAsksForSemanticVAD(t *testing.T) {
	g := gomega.NewWithT(t)
	plain, semantic := get(Handler(Options{}), "/"), get(Handler(Options{Semantic: true}), "/")
	g.Expect(plain.Body.String()).NotTo(gomega.ContainSubstring(semanticName))
	g.Expect(semantic.Body.String()).To(gomega.ContainSubstring(`<meta name="` + semanticName + `" content="on">`))
	g.Expect(semantic.Header().Get("ETag")).NotTo(gomega.Equal(plain.Header().Get("ETag")))
}

func TestEveryFileOfThePageIsThere(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{})
	html := get(h, "/").Body.String()
	links := regexp.MustCompile(`(?:href|src)="(/[^"]+)"`).FindAllStringSubmatch(html, -1)
	g.Expect(links).To(gomega.HaveLen(6))
	for _, l := range links {
		g.Expect(get(h, l[1]).Code).To(gomega.Equal(http.StatusOK), l[1])
	}
	icons := regexp.MustCompile(`/web/[0-9a-f]{12}/icon[^"]*`).FindAllString(get(h, "/manifest.webmanifest").Body.String(), -1)
	g.Expect(icons).To(gomega.HaveLen(4))
	for _, icon := range icons {
		g.Expect(get(h, icon).Code).To(gomega.Equal(http.StatusOK), icon)
	}
	g.Expect(get(h, "/favicon.ico").Header().Get("Content-Type")).To(gomega.Equal("image/png"))
}

func TestProgramComesInTheEncodingThatTheClientTakes(t *testing.T) {
	h := Handler(Options{})
	path := "/talk-page.wasm?v=" + pagescript.Version()
	for _, row := range []struct {
		accept, encoding string
		unpack           func(io.Reader) (io.Reader, error)
	}{
		{"gzip, deflate, br, zstd", "br", func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }},
		{"gzip, deflate", "gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"br;q=0, gzip;q=0.5", "gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"*", "br", func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }},
		{"*;q=0", "", func(r io.Reader) (io.Reader, error) { return r, nil }},
		{"", "", func(r io.Reader) (io.Reader, error) { return r, nil }},
		{"br;q=nonsense", "", func(r io.Reader) (io.Reader, error) { return r, nil }},
	} {
		t.Run(row.accept, func(t *testing.T) {
			g := gomega.NewWithT(t)
			w := get(h, path, "Accept-Encoding", row.accept)
			g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
			g.Expect(w.Header().Get("Content-Encoding")).To(gomega.Equal(row.encoding))
			g.Expect(w.Header().Get("Content-Type")).To(gomega.Equal("application/wasm"))
			g.Expect(w.Header().Get("Vary")).To(gomega.Equal("Accept-Encoding"))
			g.Expect(w.Header().Get("Cache-Control")).To(gomega.ContainSubstring("immutable"))
			g.Expect(w.Header().Get("Content-Length")).To(gomega.Equal(fmt.Sprint(w.Body.Len())))
			body, err := row.unpack(w.Body)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			got, err := io.ReadAll(body)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(string(got)).To(gomega.HavePrefix("\x00asm\x01"))
		})
	}
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{})
	for _, path := range []string{"/", "/favicon.ico", "/talk-page.wasm", "/manifest.webmanifest"} {
		tag := get(h, path, "Accept-Encoding", "br").Header().Get("ETag")
		w := get(h, path, "Accept-Encoding", "br", "If-None-Match", tag)
		g.Expect(w.Code).To(gomega.Equal(http.StatusNotModified), path)
		g.Expect(w.Body.Len()).To(gomega.BeZero())
	}
}

// An upgraded server has other addresses, because they hold the version of the files. It answers an address of another version with an error,
// and has its worker and its page checked each time.
func TestUpgradeGivesEveryFileANewAddress(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{})
	html := get(h, "/").Body.String()
	style := regexp.MustCompile(`/web/[0-9a-f]{12}/page\.css`).FindString(html)
	g.Expect(get(h, style).Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheForever))
	old := get(h, "/web/0123456789ab/page.css")
	g.Expect(old.Code).To(gomega.Equal(http.StatusNotFound))
	g.Expect(old.Header().Get("Cache-Control")).To(gomega.Equal("no-store"))
	program := regexp.MustCompile(`/talk-page\.js\?v=[0-9a-f]{12}`).FindString(html)
	g.Expect(get(h, program).Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheForever))
	g.Expect(get(h, "/talk-page.js?v=0123456789ab").Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheCheck))
	for _, path := range []string{"/", "/app-worker.js", "/manifest.webmanifest"} {
		g.Expect(get(h, path).Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheCheck), path)
	}
}

func TestOnlyThePageIsServed(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{})
	for _, path := range []string{"/nothing", "/docsx", "/web/", "/web/app.wasm", "/web/../handler.go", "/app.wasm", "/robots.txt"} {
		w := get(h, path)
		g.Expect(w.Code).To(gomega.Equal(http.StatusNotFound), path)
		g.Expect(w.Body.String()).To(gomega.ContainSubstring("the Talk page is at /"), path)
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	g.Expect(w.Code).To(gomega.Equal(http.StatusMethodNotAllowed))
}
