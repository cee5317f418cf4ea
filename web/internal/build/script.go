//go:build !js

package main

// The build of the page's script: the program behind it, the version of both, and the scripts around it.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/andybalholm/brotli"

	"github.com/antiphon-rt/antiphon/internal/pagescript"
)

// pageScript makes the files of the page's script.
type pageScript struct {
	source string // folder of the script's sources
	pkg    string // folder for the npm package
	embed  string // folder for what the server serves, or empty for none
	wasm   string // file of a compiled program, or empty for ./wasm compiled with Go
	exec   string // file of the support script that the program needs, or empty for Go's
	names  bool   // the program keeps the names of its functions
	log    io.Writer
}

func (p pageScript) build() error {
	program, support, err := p.program()
	if err != nil {
		return err
	}
	version, err := p.version(program, support)
	if err != nil {
		return err
	}
	if p.current(version) {
		fmt.Fprintln(p.log, "the page's script is up to date")
		return nil
	}
	files, err := p.bundle(version, support)
	if err != nil {
		return err
	}
	files["antiphon.wasm"] = program
	all := map[string]packed{}
	for _, name := range script.Files {
		all[name] = pack(files[name], brotli.BestCompression) // ten seconds for the program
	}
	if p.embed != "" {
		if err := p.writeEmbedded(version, files, all); err != nil {
			return err
		}
	}
	if err := p.writePackage(version, files); err != nil {
		return err
	}
	return p.report(files, all)
}

// program returns the compiled program and the support script that it needs.
func (p pageScript) program() (program, support []byte, err error) {
	if support, err = readOr(p.exec, supportScript); err != nil {
		return nil, nil, err
	}
	program, err = readOr(p.wasm, compileScript)
	if err != nil || p.names {
		return program, support, err
	}
	log := p.log
	if p.wasm != "" {
		log = io.Discard // TinyGo's programs have no table of functions: that is no reason for a warning
	}
	program, err = slimmed(program, log)
	return program, support, err
}

// readOr returns the content of a file, or what otherwise returns where the name of the file is empty.
func readOr(file string, otherwise func() ([]byte, error)) ([]byte, error) {
	if file == "" {
		return otherwise()
	}
	return os.ReadFile(file)
}

// sources returns the names of the script's source files, relative to p.source.
func (p pageScript) sources() ([]string, error) {
	var names []string
	for _, folder := range []string{"", sdktest} {
		entries, err := os.ReadDir(filepath.Join(p.source, folder))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, filepath.Join(folder, e.Name()))
			}
		}
	}
	return names, nil
}

// version returns 12 hexadecimal digits that change with everything that the result is made of: the program, the support script, the
// source files and this command.
func (p pageScript) version(program, support []byte) (string, error) {
	sum := sha256.New()
	names, err := p.sources()
	if err != nil {
		return "", err
	}
	add := func(content []byte) {
		fmt.Fprintln(sum, len(content))
		_, _ = sum.Write(content) // a hash never fails
	}
	add(program)
	add(support)
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range append(names, self) {
		if name != self {
			name = filepath.Join(p.source, name)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		add(content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}
