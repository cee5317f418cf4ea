//go:build !js

// Package pagescript serves the files with which a web page can hold a call (sdk/npm): the page's script, its WebAssembly program, and the
// two files that they load. Pages of every origin may load them; the server decides which pages may place calls.
//
//	mux.Handle("/antiphon.js", pagescript.Handler())
//
// serves one of them. The others must be served from the same folder, under the names in Files. The Talk page's handler (package web) serves them too.
//
// The files are in the folder dist, generated and committed: make sdk makes them.
package pagescript

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/asset"
)

//go:embed dist
var built embed.FS

// Files are the names of the served files. They are in the root of the server or in one folder.
var Files = []string{
	"antiphon.js", "antiphon.mjs", "antiphon.wasm", "antiphon-exec.js", "antiphon-host.js", "antiphon-worklet.js", "antiphon-talk.js",
}

// Page are the names of the two files of the Talk page, which are served beside Files: its script, and its program.
var Page = []string{"talk-page.js", "talk-page.wasm"}

// All returns the names of all served files.
func All() []string { return slices.Concat(Files, Page) }

// Serves reports whether a path is one of the served files in the root.
func Serves(path string) bool { return slices.Contains(All(), strings.TrimPrefix(path, "/")) }

// Version returns 12 hexadecimal digits, which change when any of the served files does.
func Version() string {
	_, version := files()
	return version
}

// files are the embedded files by their names, and their version. They are a part of this program: that they cannot be read is a fault in it.
var files = sync.OnceValues(func() (map[string]asset.Asset, string) {
	assets, version, err := load(built)
	if err != nil {
		panic(err)
	}
	return assets, version
})

// Handler serves Files and Page, by the last part of the path. It answers 404 for every other name.
func Handler() http.Handler { return handler(files()) }

func handler(assets map[string]asset.Asset, version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		// Every origin may load the files. Without this header a page of another origin cannot load a program, a module or a worklet.
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Timing-Allow-Origin", "*")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this can only be read: use GET", http.StatusMethodNotAllowed)
			return
		}
		a, ok := assets[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
		if !ok {
			h.Set("Cache-Control", "no-store")
			http.Error(w, "there is no such file: there are "+strings.Join(Files, ", "), http.StatusNotFound)
			return
		}
		caching := asset.CacheCheck
		if r.URL.Query().Get("v") == version {
			caching = asset.CacheForever // the script asks for its program in this way
		}
		a.Send(w, r, version, caching)
	})
}

// Manifest is the content of ManifestFile, which is written last.
type Manifest struct {
	Version string         `json:"version"` // changes when any of the files does
	Sources string         `json:"sources"` // the hash of what they were made of: see web/internal/build
	Sizes   map[string]int `json:"sizes"`   // the sizes of the plain files, in bytes
}

// ManifestFile is the name of the manifest in the folder. For each served file the folder has NAME.br and NAME.gz.
const ManifestFile = "manifest.json"

func load(all fs.FS) (map[string]asset.Asset, string, error) {
	var m Manifest
	raw, err := fs.ReadFile(all, "dist/"+ManifestFile)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return nil, "", fmt.Errorf("the manifest of the page's script: %w", err)
	}
	assets := map[string]asset.Asset{}
	for _, name := range All() {
		a := asset.Asset{ContentType: asset.ContentType(name), Size: m.Sizes[name]}
		if a.Brotli, err = fs.ReadFile(all, "dist/"+name+".br"); err == nil {
			a.Gzip, err = fs.ReadFile(all, "dist/"+name+".gz")
		}
		if err != nil {
			return nil, "", err
		}
		assets[name] = a
	}
	return assets, m.Version, nil
}
