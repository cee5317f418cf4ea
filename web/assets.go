//go:build !js

package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

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

// asset is a file that is sent to the browser, in the encodings that there are.
// At least one of plain and gzip is there.
type asset struct {
	contentType         string
	plain, gzip, brotli []byte
	size                int // of the plain file
}

// bundle is everything that the page consists of, apart from its HTML.
type bundle struct {
	version string // changes when anything in the bundle does
	size    int    // of the client program, in bytes
	assets  map[string]asset
}

// loadBundle reads the page's files; files are what the build made.
func loadBundle(files fs.FS) (*bundle, error) {
	b := &bundle{assets: make(map[string]asset)}
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
	b.assets["app.wasm"] = asset{contentType: "application/wasm", gzip: gz, brotli: br, size: m.Size}
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
	a := asset{contentType: contentType(name), plain: content, size: len(content)}
	if path.Ext(name) != ".png" {
		a.gzip = squeeze(content)
	}
	b.assets[name] = a
}

func squeeze(content []byte) []byte {
	var short bytes.Buffer
	w := gzip.NewWriter(&short)
	_, _ = w.Write(content) // a buffer never fails
	_ = w.Close()
	return short.Bytes()
}

// contentType does not ask the machine's MIME tables, which differ.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".wasm":
		return "application/wasm"
	default:
		return "application/octet-stream"
	}
}
