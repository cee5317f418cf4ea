//go:build !js

// Package script serves the files with which a web page can hold a call (sdk/npm): the page's script, its WebAssembly program, and the
// two files that they load. Pages of every origin may load them; the server decides which pages may place calls.
//
//	mux.Handle("/antiphon.js", script.Handler())
//
// serves one of them. The others must be served from the same folder, under the names in Files. The Talk page's handler (package web) serves them too.
//
// The files are built into script/dist by
//
//	go run ./web/internal/build script
//
// in the repository's root. Without them everything compiles, and the handler answers 503 with the command to run.
package script

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/asset"
)

//go:embed all:dist
var built embed.FS

// ErrNotBuilt reports that this program was built without the page's script.
var ErrNotBuilt = errors.New("the page's script was not built: run make build")

// Files are the names of the served files. They are in the root of the server or in one folder.
var Files = []string{
	"antiphon.js", "antiphon.mjs", "antiphon.wasm", "antiphon-exec.js", "antiphon-host.js", "antiphon-worklet.js", "antiphon-talk.js",
}

// Serves reports whether a path is one of Files in the root.
func Serves(path string) bool { return slices.Contains(Files, strings.TrimPrefix(path, "/")) }

// Check reports whether the files were built: nil, or an error that wraps ErrNotBuilt.
func Check() error {
	_, _, err := load(built)
	return err
}

// Handler serves Files, by the last part of the path. It answers 404 for every other name.
func Handler() http.Handler { return handler(built) }

func handler(all fs.FS) http.Handler {
	assets, version, err := load(all)
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
		if err != nil {
			h.Set("Cache-Control", "no-store")
			http.Error(w, ErrNotBuilt.Error(), http.StatusServiceUnavailable)
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

// Manifest is the content of ManifestFile, which the build writes last.
type Manifest struct {
	Version string         `json:"version"` // changes when any of the files does
	Sizes   map[string]int `json:"sizes"`   // the sizes of the plain files, in bytes
}

// ManifestFile is the name of the manifest in the folder. For each of Files the folder has NAME.br and NAME.gz.
const ManifestFile = "manifest.json"

func load(all fs.FS) (map[string]asset.Asset, string, error) {
	var m Manifest
	raw, err := fs.ReadFile(all, "dist/"+ManifestFile)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	assets := map[string]asset.Asset{}
	for _, name := range Files {
		a := asset.Asset{ContentType: asset.ContentType(name), Size: m.Sizes[name]}
		if a.Brotli, err = fs.ReadFile(all, "dist/"+name+".br"); err == nil {
			a.Gzip, err = fs.ReadFile(all, "dist/"+name+".gz")
		}
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrNotBuilt, err)
		}
		assets[name] = a
	}
	return assets, m.Version, nil
}
