//go:build !js

package main

// The npm package: the generated files that pages load, and files of the sources that stay unchanged.

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/internal/pagescript"
	"github.com/antiphon-rt/antiphon/internal/version"
)

// sdktest is the folder of the package for tests of pages. Its files stay unchanged, because people step through them in a debugger, and
// no page loads them.
const sdktest = "sdktest"

// writePackage makes the npm package in a folder, which has nothing else afterwards, from the folder of generated files.
func writePackage(generated, folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(folder, sdktest), os.DirFS(filepath.Join(npmSource, sdktest))); err != nil {
		return err
	}
	for _, name := range pagescript.Files {
		if err := unpack(filepath.Join(generated, name+".gz"), filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	if err := writeEmbedded(folder); err != nil {
		return err
	}
	for _, name := range []string{
		"LICENSE", filepath.Join(npmSource, "react.d.ts"), filepath.Join(npmSource, "store.js"), filepath.Join(npmSource, "store.d.ts"), filepath.Join(npmSource, "package.json"), filepath.Join(npmSource, "antiphon.d.ts"), filepath.Join(npmSource, "README.md"),
	} {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if filepath.Base(name) == "package.json" {
			content = bytes.Replace(content, []byte(`"name": "antiphon",`), []byte(`"name": "antiphon",`+"\n  "+`"version": "`+version.Version+`",`), 1)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeEmbedded writes the module of embedded from the files of the package.
func writeEmbedded(folder string) error {
	program, err := os.ReadFile(filepath.Join(folder, "antiphon.wasm"))
	if err != nil {
		return err
	}
	worklet, err := os.ReadFile(filepath.Join(folder, "antiphon-worklet.js"))
	if err != nil {
		return err
	}
	module, err := embedded(program, worklet)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "antiphon-embedded.js"), module, 0o644)
}

// unpack writes the content of a file that gzip has packed.
func unpack(from, to string) error {
	packed, err := os.Open(from)
	if err != nil {
		return err
	}
	defer packed.Close()
	content, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		_ = file.Close() // the first error says what is wrong
		return err
	}
	return file.Close()
}
