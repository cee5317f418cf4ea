//go:build !js

package main

// The folders of the page's script: what the server embeds, and the npm package.

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/pagescript"
)

// stamp is the file in the npm package that says what it was made of. It is written last.
const stamp = "version.txt"

// current reports whether both folders hold this very version.
func (p pageScript) current(version string) bool {
	if there, err := os.ReadFile(filepath.Join(p.pkg, stamp)); err != nil || string(there) != version+"\n" {
		return false
	}
	if p.embed == "" {
		return true
	}
	raw, err := os.ReadFile(filepath.Join(p.embed, script.ManifestFile))
	var there script.Manifest
	return err == nil && json.Unmarshal(raw, &there) == nil && there.Version == version
}

// writeEmbedded writes the packed files that the server serves, and their manifest.
func (p pageScript) writeEmbedded(version string, files map[string][]byte, all map[string]packed) error {
	m := script.Manifest{Version: version, Sizes: map[string]int{}}
	served := map[string][]byte{}
	for _, name := range script.Files {
		m.Sizes[name] = len(files[name])
		served[name+".br"], served[name+".gz"] = all[name].brotli, all[name].gzip
	}
	manifest, err := jsonLine(m)
	if err != nil {
		return err
	}
	return writeFolder(p.embed, script.ManifestFile, manifest, served)
}

// packaged are the files that the npm package copies from the sources unchanged, besides those of sdktest.
var packaged = []string{"package.json", "antiphon.d.ts", "README.md"}

// sdktest is the folder of the package for tests of pages. Its files stay unchanged, because people step through them in a debugger, and
// no page loads them.
const sdktest = "sdktest"

// writePackage puts the npm package together.
func (p pageScript) writePackage(version string, files map[string][]byte) error {
	// The package has no stamp while its folder of tests is replaced.
	if err := os.Remove(filepath.Join(p.pkg, stamp)); err != nil && !os.IsNotExist(err) {
		return err
	}
	tests := filepath.Join(p.pkg, sdktest)
	if err := os.RemoveAll(tests); err != nil {
		return err
	}
	if err := os.CopyFS(tests, os.DirFS(filepath.Join(p.source, sdktest))); err != nil {
		return err
	}
	for _, name := range packaged {
		content, err := os.ReadFile(filepath.Join(p.source, name))
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
	return writeFolder(p.pkg, stamp, []byte(version+"\n"), files)
}

// report prints the sizes.
func (p pageScript) report(files map[string][]byte, all map[string]packed) error {
	for _, name := range script.Files {
		_, err := fmt.Fprintf(p.log, "%-20s %8d bytes, %7d brotli, %7d gzip\n", name, len(files[name]), len(all[name].brotli), len(all[name].gzip))
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(p.log, "the npm package is in", p.pkg, "with", sdktest, "and", len(files)+1, "files:", slices.Sorted(maps.Keys(files)))
	return nil
}
