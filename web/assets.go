//go:build !js

package web

// The files that the page consists of, except its HTML: reads the embedded ones and names their version.

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/antiphon-rt/antiphon/internal/asset"
	"github.com/antiphon-rt/antiphon/web/internal/dist"
)

//go:embed all:dist
var embeddedDist embed.FS

//go:embed static
var staticFiles embed.FS

//go:embed style
var styleFiles embed.FS

// ErrNotBuilt reports that this program was built without the client program
// of the page.
var ErrNotBuilt = errors.New("the Talk page was not built: run make build")

// bundle is everything that the page consists of, apart from its HTML.
type bundle struct {
	version string // changes when anything in the bundle does
	size    int    // the size of the client program, in bytes
	assets  map[string]asset.Asset
}

// loadBundle reads the page's files. files has the output of the build.
func loadBundle(files fs.FS) (*bundle, error) {
	b := &bundle{assets: make(map[string]asset.Asset)}
	m, err := readManifest(files)
	if err != nil {
		return nil, err
	}
	b.size = m.Size
	sum := sha256.New()
	fmt.Fprintln(sum, m.SHA256, m.Go)
	if err := b.addWasm(files, m); err != nil {
		return nil, err
	}
	exec, err := fs.ReadFile(files, dist.WasmExecFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	b.add(sum, dist.WasmExecFile, exec)
	if err := b.addStatic(sum); err != nil {
		return nil, err
	}
	b.version = hex.EncodeToString(sum.Sum(nil))[:12]
	return b, nil
}

func readManifest(files fs.FS) (dist.Manifest, error) {
	var m dist.Manifest
	raw, err := fs.ReadFile(files, dist.ManifestFile)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrNotBuilt, dist.ManifestFile, err)
	}
	return m, nil
}

func (b *bundle) addWasm(files fs.FS, m dist.Manifest) error {
	br, err := fs.ReadFile(files, dist.WasmBrotliFile)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	gz, err := fs.ReadFile(files, dist.WasmGzipFile)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	b.assets["app.wasm"] = asset.Asset{ContentType: "application/wasm", Gzip: gz, Brotli: br, Size: m.Size}
	return nil
}

// addStatic adds the files of the repository: the style sheets as one, the
// icons, the service worker.
func (b *bundle) addStatic(sum io.Writer) error {
	var sheet bytes.Buffer
	err := eachFile(styleFiles, func(_ string, content []byte) {
		sheet.Write(content)
		sheet.WriteByte('\n')
	})
	if err != nil {
		return err
	}
	b.add(sum, "page.css", sheet.Bytes())
	return eachFile(staticFiles, func(name string, content []byte) { b.add(sum, path.Base(name), content) })
}

// eachFile calls f for every file, in the order of their names.
func eachFile(files fs.FS, f func(name string, content []byte)) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		f(name, content)
		return nil
	})
}

// add takes a small file and makes its short form.
func (b *bundle) add(sum io.Writer, name string, content []byte) {
	fmt.Fprintln(sum, name, len(content))
	_, _ = sum.Write(content) // a hash never fails
	a := asset.Asset{ContentType: asset.ContentType(name), Plain: content, Size: len(content)}
	if path.Ext(name) != ".png" {
		a.Gzip = asset.Squeeze(content)
	}
	b.assets[name] = a
}
