//go:build !js

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/andybalholm/brotli"

	"github.com/antiphon-rt/antiphon/web/script"
)

// stamp is the file in the npm package that says what it was made of. It is written last.
const stamp = "version.txt"

// current reports whether both folders hold this very version.
func (b builder) current(version string) bool {
	if there, err := os.ReadFile(filepath.Join(b.pkg, stamp)); err != nil || string(there) != version+"\n" {
		return false
	}
	if b.embed == "" {
		return true
	}
	raw, err := os.ReadFile(filepath.Join(b.embed, script.ManifestFile))
	var there script.Manifest
	return err == nil && json.Unmarshal(raw, &there) == nil && there.Version == version
}

// writeEmbedded packs what the server serves.
func (b builder) writeEmbedded(version string, files map[string][]byte, packed map[string]short) error {
	if err := os.MkdirAll(b.embed, 0o755); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.embed, script.ManifestFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	m := script.Manifest{Version: version, Sizes: map[string]int{}}
	for _, name := range script.Files {
		m.Sizes[name] = len(files[name])
		for extension, content := range packed[name] {
			if err := os.WriteFile(filepath.Join(b.embed, name+extension), content, 0o644); err != nil {
				return err
			}
		}
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.embed, script.ManifestFile), append(manifest, '\n'), 0o644)
}

// short is a file in its packed forms, by the extension of the name.
type short map[string][]byte

// pack packs the files that a page loads, as well as can be: ten seconds for the program.
func pack(files map[string][]byte) map[string]short {
	packed := map[string]short{}
	for _, name := range script.Files {
		var br, gz bytes.Buffer
		zipped, err := gzip.NewWriterLevel(&gz, gzip.BestCompression)
		if err != nil {
			panic(err) // the level is a good one
		}
		for _, w := range []io.WriteCloser{brotli.NewWriterLevel(&br, brotli.BestCompression), zipped} {
			_, _ = w.Write(files[name]) // a buffer never fails
			_ = w.Close()
		}
		packed[name] = short{".br": br.Bytes(), ".gz": gz.Bytes()}
	}
	return packed
}

// packaged are the files of the npm package that stand in the source as they are, beside those of sdktest.
var packaged = []string{"package.json", "antiphon.d.ts", "README.md"}

// sdktest is the folder of what tests of pages use. It is for people to step through, so it is left as it is, and no page loads it.
const sdktest = "sdktest"

// writePackage puts the npm package together.
func (b builder) writePackage(version string, files map[string][]byte) error {
	if err := os.MkdirAll(b.pkg, 0o755); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.pkg, stamp)); err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, name := range packaged {
		content, err := os.ReadFile(filepath.Join(b.source, name))
		if err != nil {
			return err
		}
		files[name] = content
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	files["LICENSE"] = license
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(b.pkg, name), content, 0o644); err != nil {
			return err
		}
	}
	tests := filepath.Join(b.pkg, sdktest)
	if err := os.RemoveAll(tests); err != nil {
		return err
	}
	if err := os.CopyFS(tests, os.DirFS(filepath.Join(b.source, sdktest))); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.pkg, stamp), []byte(version+"\n"), 0o644)
}

// report prints the sizes.
func (b builder) report(files map[string][]byte, packed map[string]short) error {
	for _, name := range script.Files {
		_, err := fmt.Fprintf(b.log, "%-20s %8d bytes, %7d brotli, %7d gzip\n", name, len(files[name]), len(packed[name][".br"]), len(packed[name][".gz"]))
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(b.log, "the npm package is in", b.pkg, "with", sdktest, "and", len(files)+1, "files:", slices.Sorted(maps.Keys(files)))
	return nil
}
