//go:build !js

package main

// The files that the server sends: the programs and the scripts, packed, and the manifest that says what they were made of.

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/andybalholm/brotli"

	"github.com/antiphon-rt/antiphon/internal/pagescript"
)

// generate makes the files in the folder from the two compiled programs and their support script, and prints the sizes.
func generate(folder, program, page, support string, log io.Writer) error {
	files := map[string][]byte{}
	sum := sha256.New()
	for name, file := range map[string]string{"antiphon.wasm": program, "talk-page.wasm": page, "support": support} {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files[name] = content
	}
	own, err := sources()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%x\n", sha256.Sum256(files[name]))
	}
	fmt.Fprintln(sum, own.scripts)
	m := pagescript.Manifest{Version: hex.EncodeToString(sum.Sum(nil))[:12], Sources: own.all, Sizes: map[string]int{}}
	scripts, err := bundle(m.Version, files["support"])
	if err != nil {
		return err
	}
	maps.Copy(files, scripts)
	return write(folder, m, files, log)
}

// write packs the files into the folder, and writes the manifest last.
func write(folder string, m pagescript.Manifest, files map[string][]byte, log io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range pagescript.All() {
		m.Sizes[name] = len(files[name])
		br, gz, err := pack(files[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(log, "%-20s %8d bytes, %7d brotli, %7d gzip\n", name, len(files[name]), len(br), len(gz))
		for ending, packed := range map[string][]byte{".br": br, ".gz": gz} {
			if err := os.WriteFile(filepath.Join(folder, name+ending), packed, 0o644); err != nil {
				return err
			}
		}
	}
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, pagescript.ManifestFile), append(manifest, '\n'), 0o644)
}

// pack packs content as well as brotli and gzip can.
func pack(content []byte) (br, gz []byte, err error) {
	var short, zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range []io.WriteCloser{brotli.NewWriterLevel(&short, brotli.BestCompression), z} {
		if _, err := w.Write(content); err != nil {
			return nil, nil, err
		}
		if err := w.Close(); err != nil {
			return nil, nil, err
		}
	}
	return short.Bytes(), zipped.Bytes(), nil
}

// manifest reads the manifest of a folder of generated files.
func manifest(folder string) (m pagescript.Manifest, err error) {
	raw, err := os.ReadFile(filepath.Join(folder, pagescript.ManifestFile))
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}

// check compares the sources with those that the folder's files were made of.
func check(folder string) error {
	m, err := manifest(folder)
	if err != nil {
		return err
	}
	own, err := sources()
	if err != nil {
		return err
	}
	if own.all != m.Sources {
		return fmt.Errorf("%s was made of other sources than these: run make sdk and commit the folder", folder)
	}
	return nil
}
