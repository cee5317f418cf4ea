//go:build !js

package pagescript

// The HTTP handler of the page's script.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/asset"
)

// folder returns a folder as the build makes it. Each file has its name as content.
func folder(t *testing.T) fs.FS {
	t.Helper()
	m := Manifest{Version: "abc", Sizes: map[string]int{}}
	files := fstest.MapFS{}
	for _, name := range All() {
		m.Sizes[name] = len(name)
		files["dist/"+name+".br"] = &fstest.MapFile{Data: []byte("brotli " + name)}
		files["dist/"+name+".gz"] = &fstest.MapFile{Data: asset.Squeeze([]byte(name))}
	}
	manifest, err := json.Marshal(m)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	files["dist/"+ManifestFile] = &fstest.MapFile{Data: manifest}
	return files
}

func handlerOf(g *gomega.WithT, all fs.FS) http.Handler {
	assets, version, err := load(all)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return handler(assets, version)
}

func ask(h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEveryPageMayLoadTheFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	h := handlerOf(g, folder(t))
	for _, name := range Files {
		w := ask(h, http.MethodGet, "/"+name, "Origin", "https://page.example", "Accept-Encoding", "gzip, br")
		g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
		g.Expect(w.Header().Get("Access-Control-Allow-Origin")).To(gomega.Equal("*"))
		g.Expect(w.Header().Get("Cross-Origin-Resource-Policy")).To(gomega.Equal("cross-origin"))
		g.Expect(w.Header().Get("Content-Type")).To(gomega.Equal(asset.ContentType(name)))
		g.Expect(w.Header().Get("Content-Encoding")).To(gomega.Equal("br"))
		g.Expect(w.Body.String()).To(gomega.Equal("brotli " + name))
		plain := ask(h, http.MethodGet, "/in/a/folder/"+name)
		g.Expect(plain.Body.String()).To(gomega.Equal(name))
	}
	g.Expect(asset.ContentType("antiphon.wasm")).To(gomega.Equal("application/wasm"), "else the program cannot stream in")
	g.Expect(Serves("/antiphon.wasm")).To(gomega.BeTrue())
	g.Expect(Serves("/web/antiphon.wasm")).To(gomega.BeFalse())
}

func TestCachingOfProgramAndScript(t *testing.T) {
	g := gomega.NewWithT(t)
	h := handlerOf(g, folder(t))
	script := ask(h, http.MethodGet, "/antiphon.js")
	g.Expect(script.Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheCheck))
	again := ask(h, http.MethodGet, "/antiphon.js", "If-None-Match", script.Header().Get("ETag"))
	g.Expect(again.Code).To(gomega.Equal(http.StatusNotModified))
	g.Expect(ask(h, http.MethodGet, "/antiphon.wasm?v=abc").Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheForever))
	g.Expect(ask(h, http.MethodGet, "/antiphon.wasm?v=old").Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheCheck))
	g.Expect(ask(h, http.MethodHead, "/antiphon.wasm").Body.Len()).To(gomega.BeZero())
}

func TestUnknownNamesAreNotFound(t *testing.T) {
	g := gomega.NewWithT(t)
	h := handlerOf(g, folder(t))
	g.Expect(ask(h, http.MethodGet, "/manifest.json").Code).To(gomega.Equal(http.StatusNotFound))
	g.Expect(ask(h, http.MethodPost, "/antiphon.js").Code).To(gomega.Equal(http.StatusMethodNotAllowed))
	for _, all := range []fs.FS{fstest.MapFS{}, fstest.MapFS{"dist/" + ManifestFile: &fstest.MapFile{Data: []byte("{}")}}} {
		_, _, err := load(all)
		g.Expect(err).To(gomega.HaveOccurred(), "a folder that is not whole")
	}
}

// What is committed is whole: every file unpacks to the size that the manifest names, in both packings.
func TestTheEmbeddedFilesAreWhole(t *testing.T) {
	g := gomega.NewWithT(t)
	assets, version := files()
	g.Expect(version).To(gomega.MatchRegexp("^[0-9a-f]{12}$"))
	for _, name := range All() {
		a := assets[name]
		plain, err := gzip.NewReader(bytes.NewReader(a.Gzip))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		content, err := io.ReadAll(plain)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(content).To(gomega.HaveLen(a.Size), name)
		g.Expect(io.ReadAll(brotli.NewReader(bytes.NewReader(a.Brotli)))).To(gomega.Equal(content), name)
	}
}
