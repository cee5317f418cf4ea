//go:build !js

package main

// The build of the Talk page: its client program, packed, and the support script that the program needs.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/antiphon-rt/antiphon/web/internal/dist"
)

// brotliLevel packs the Talk page's program in 2.5 s. The best level takes 24 s.
const brotliLevel = 9

// page makes the files of the Talk page.
type page struct {
	pkg    string // the package of the client program
	folder string // the folder for the result
	level  int    // the level of brotli
	log    io.Writer
}

func (p page) build() error {
	program, err := toolchain{program: "go"}.compile(p.pkg)
	if err != nil {
		return err
	}
	if program, err = slimmed(program, p.log); err != nil {
		return err
	}
	sum := sha256.Sum256(program)
	m := dist.Manifest{SHA256: hex.EncodeToString(sum[:]), Size: len(program), Go: runtime.Version(), Level: p.level}
	if p.current(m) {
		fmt.Fprintln(p.log, "the Talk page is up to date")
		return nil
	}
	support, err := supportScript()
	if err != nil {
		return err
	}
	return p.write(m, program, support)
}

// current reports whether the folder holds this very program.
func (p page) current(m dist.Manifest) bool {
	raw, err := os.ReadFile(filepath.Join(p.folder, dist.ManifestFile))
	if err != nil {
		return false
	}
	var there dist.Manifest
	return json.Unmarshal(raw, &there) == nil && there == m
}

// write packs the program and puts the files into the folder.
func (p page) write(m dist.Manifest, program, support []byte) error {
	short := pack(program, p.level)
	manifest, err := jsonLine(m)
	if err != nil {
		return err
	}
	err = writeFolder(p.folder, dist.ManifestFile, manifest, map[string][]byte{
		dist.WasmBrotliFile: short.brotli,
		dist.WasmGzipFile:   short.gzip,
		dist.WasmExecFile:   support,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.log, "Talk page: %d kB as the browser runs it, %d kB brotli, %d kB gzip\n",
		len(program)/1000, len(short.brotli)/1000, len(short.gzip)/1000)
	return nil
}
