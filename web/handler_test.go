//go:build !js

package web

// The HTTP handler of the Talk page: files, encodings, caching and versions.

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/web/internal/dist"
)

const program = "\x00asm and so on"

// built returns a dist folder with a small program.
func built(t *testing.T, program string) fstest.MapFS {
	t.Helper()
	var br, gz bytes.Buffer
	pack := func(w io.WriteCloser) {
		if _, err := io.WriteString(w, program); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	pack(brotli.NewWriter(&br))
	pack(gzip.NewWriter(&gz))
	manifest := fmt.Sprintf(`{"sha256":%q,"size":%d,"go":"go1.26"}`, program[4:], len(program))
	return fstest.MapFS{
		dist.ManifestFile:   {Data: []byte(manifest)},
		dist.WasmBrotliFile: {Data: br.Bytes()},
		dist.WasmGzipFile:   {Data: gz.Bytes()},
		dist.WasmExecFile:   {Data: []byte("globalThis.Go = class {};")},
	}
}

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// wasmPath returns the address of the program in the page's script.
func wasmPath(g *gomega.WithT, h http.Handler) string {
	script := get(h, "/app.js").Body.String()
	found := regexp.MustCompile(`/web/[0-9a-f]{12}/app\.wasm`).FindString(script)
	g.Expect(found).NotTo(gomega.BeEmpty(), "the script names the program by its version")
	return found
}

func TestPageIsServedReadable(t *testing.T) {
	g := gomega.NewWithT(t)
	w := get(Handler(Options{Dist: built(t, program)}), "/")
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

// A page for semantic_vad says so in its head, and no browser takes it for the page without.
func TestPageAsksForSemanticVAD(t *testing.T) {
	g := gomega.NewWithT(t)
	files := built(t, program)
	plain, semantic := get(Handler(Options{Dist: files}), "/"), get(Handler(Options{Dist: files, Semantic: true}), "/")
	g.Expect(plain.Body.String()).NotTo(gomega.ContainSubstring(semanticName))
	g.Expect(semantic.Body.String()).To(gomega.ContainSubstring(`<meta name="` + semanticName + `" content="on">`))
	g.Expect(semantic.Header().Get("ETag")).NotTo(gomega.Equal(plain.Header().Get("ETag")))
}

func TestEveryFileOfThePageIsThere(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{Dist: built(t, program)})
	html := get(h, "/").Body.String()
	links := regexp.MustCompile(`(?:href|src)="(/[^"]+)"`).FindAllStringSubmatch(html, -1)
	g.Expect(len(links)).To(gomega.BeNumerically(">", 5))
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
	h := Handler(Options{Dist: built(t, program)})
	path := wasmPath(gomega.NewWithT(t), h)
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
			g.Expect(string(got)).To(gomega.Equal(program))
		})
	}
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{Dist: built(t, program)})
	for _, path := range []string{"/", "/wasm_exec.js", wasmPath(g, h)} {
		tag := get(h, path, "Accept-Encoding", "br").Header().Get("ETag")
		w := get(h, path, "Accept-Encoding", "br", "If-None-Match", tag)
		g.Expect(w.Code).To(gomega.Equal(http.StatusNotModified), path)
		g.Expect(w.Body.Len()).To(gomega.BeZero())
	}
}

func TestUpgradeGivesEveryFileANewAddress(t *testing.T) {
	g := gomega.NewWithT(t)
	before, after := Handler(Options{Dist: built(t, program)}), Handler(Options{Dist: built(t, program+" more")})
	old := wasmPath(g, before)
	g.Expect(wasmPath(g, after)).NotTo(gomega.Equal(old))
	g.Expect(get(after, old).Code).To(gomega.Equal(http.StatusNotFound))
	g.Expect(get(after, old).Header().Get("Cache-Control")).To(gomega.Equal("no-store"))
	g.Expect(get(before, "/app-worker.js").Body.String()).NotTo(gomega.Equal(get(after, "/app-worker.js").Body.String()))
	tag := get(before, "/").Header().Get("ETag")
	g.Expect(get(after, "/", "If-None-Match", tag).Code).To(gomega.Equal(http.StatusOK))
}

func TestOnlyThePageIsServed(t *testing.T) {
	g := gomega.NewWithT(t)
	h := Handler(Options{Dist: built(t, program)})
	for _, path := range []string{"/nothing", "/web/", "/web/app.wasm", "/web/../handler.go", "/app.wasm", "/robots.txt"} {
		w := get(h, path)
		g.Expect(w.Code).To(gomega.Equal(http.StatusNotFound), path)
		g.Expect(w.Body.String()).To(gomega.ContainSubstring("the Talk page is at /"), path)
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	g.Expect(w.Code).To(gomega.Equal(http.StatusMethodNotAllowed))
}

func TestAPageThatWasNotBuiltSaysSo(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"empty":               {".keep": {}},
		"half written":        {dist.WasmBrotliFile: {Data: []byte("x")}},
		"a manifest and more": {dist.ManifestFile: {Data: []byte("not JSON")}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			w := get(Handler(Options{Dist: files}), "/")
			g.Expect(w.Code).To(gomega.Equal(http.StatusServiceUnavailable))
			g.Expect(w.Body.String()).To(gomega.Equal("the Talk page was not built: run make build\n"))
			_, err := loadBundle(files)
			g.Expect(err).To(gomega.MatchError(ErrNotBuilt))
		})
	}
}
