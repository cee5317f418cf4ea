//go:build !js

package script

// The HTTP handler of the page's script.

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/asset"
)

// folder returns a folder as the build makes it. Each file has its name as content.
func folder(t *testing.T) fs.FS {
	t.Helper()
	m := Manifest{Version: "abc", Sizes: map[string]int{}}
	files := fstest.MapFS{}
	for _, name := range Files {
		m.Sizes[name] = len(name)
		files["dist/"+name+".br"] = &fstest.MapFile{Data: []byte("brotli " + name)}
		files["dist/"+name+".gz"] = &fstest.MapFile{Data: asset.Squeeze([]byte(name))}
	}
	manifest, err := json.Marshal(m)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	files["dist/"+ManifestFile] = &fstest.MapFile{Data: manifest}
	return files
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
	h := handler(folder(t))
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
	h := handler(folder(t))
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
	h := handler(folder(t))
	g.Expect(ask(h, http.MethodGet, "/manifest.json").Code).To(gomega.Equal(http.StatusNotFound))
	g.Expect(ask(h, http.MethodPost, "/antiphon.js").Code).To(gomega.Equal(http.StatusMethodNotAllowed))
	for _, all := range []fs.FS{fstest.MapFS{}, fstest.MapFS{"dist/" + ManifestFile: &fstest.MapFile{Data: []byte("{}")}}} {
		w := ask(handler(all), http.MethodGet, "/antiphon.js")
		g.Expect(w.Code).To(gomega.Equal(http.StatusServiceUnavailable))
		g.Expect(bytes.TrimSpace(w.Body.Bytes())).To(gomega.BeEquivalentTo(ErrNotBuilt.Error()))
		_, _, err := load(all)
		g.Expect(err).To(gomega.MatchError(ErrNotBuilt))
	}
}
