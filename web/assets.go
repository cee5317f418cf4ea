//go:build !js

package web

// The files that the page consists of, except its HTML and its program: reads the embedded ones and names their version.

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/antiphon-rt/antiphon/internal/asset"
	"github.com/antiphon-rt/antiphon/internal/pagescript"
)

//go:embed static
var staticFiles embed.FS

//go:embed style
var styleFiles embed.FS

//go:embed console
var consoleFiles embed.FS

// bundle is everything that the page consists of, apart from its HTML and the files of package script.
type bundle struct {
	version string // changes when anything in the bundle does
	assets  map[string]asset.Asset
	colours []byte // the first style sheet, which the documents share
}

// loadBundle reads the embedded files: the style sheets as one, the icons, the service worker.
func loadBundle() (*bundle, error) {
	b := &bundle{assets: make(map[string]asset.Asset)}
	sum := sha256.New()
	fmt.Fprintln(sum, pagescript.Version())
	var sheet bytes.Buffer
	err := eachFile(styleFiles, func(_ string, content []byte) {
		if b.colours == nil {
			b.colours = content
		}
		sheet.Write(content)
		sheet.WriteByte('\n')
	})
	if err != nil {
		return nil, err
	}
	b.add(sum, "page.css", sheet.Bytes())
	for _, files := range []fs.FS{staticFiles, consoleFiles} {
		err = errors.Join(err, eachFile(files, func(name string, content []byte) { b.add(sum, path.Base(name), content) }))
	}
	b.version = hex.EncodeToString(sum.Sum(nil))[:12]
	return b, err
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
	b.assets[name] = small(name, content)
}

// small returns a small file, which is packed if that makes it shorter.
func small(name string, content []byte) asset.Asset {
	a := asset.Asset{ContentType: asset.ContentType(name), Plain: content, Size: len(content)}
	if path.Ext(name) != ".png" {
		a.Gzip = asset.Squeeze(content)
	}
	return a
}
