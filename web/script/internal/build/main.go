//go:build !js

// Command build makes the page's script (sdk/npm) and the program behind it:
//
//	go run ./web/script/internal/build
//
// It runs in the repository's root with the Go toolchain alone, and puts the npm package together in sdk/npm/dist and, packed,
// what the server serves in web/script/dist, from where it is embedded. When nothing has changed, what is there is left as it is.
// -wasm and -exec name a program that was compiled already (with TinyGo) and the script that such programs need; -embed "" leaves the
// server's files alone; -names keeps the names of functions in the program, for the stack that a panic prints.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/web/internal/slim"
)

func main() {
	var b builder
	flag.StringVar(&b.source, "source", filepath.Join("sdk", "npm"), "folder of the script")
	flag.StringVar(&b.pkg, "npm", filepath.Join("sdk", "npm", "dist"), "folder for the npm package")
	flag.StringVar(&b.embed, "embed", filepath.Join("web", "script", "dist"), "folder for what the server serves; empty for none")
	flag.StringVar(&b.wasm, "wasm", "", "a compiled program; empty compiles ./wasm with Go")
	flag.StringVar(&b.exec, "exec", "", "the script that -wasm needs; empty takes Go's")
	flag.BoolVar(&b.names, "names", false, "keep the names of functions, for the stack of a panic; a fifth larger")
	flag.Parse()
	b.log = os.Stdout
	if err := b.build(); err != nil {
		fmt.Fprintln(os.Stderr, "build of the page's script failed:", err)
		os.Exit(1)
	}
}

type builder struct {
	source, pkg, embed, wasm, exec string
	names                          bool // of functions are kept
	log                            io.Writer
}

func (b builder) build() error {
	program, support, err := b.program()
	if err != nil {
		return err
	}
	version, err := b.version(program, support)
	if err != nil {
		return err
	}
	if b.current(version) {
		fmt.Fprintln(b.log, "the page's script is up to date")
		return nil
	}
	files, err := b.bundle(version, support)
	if err != nil {
		return err
	}
	files["antiphon.wasm"] = program
	packed := pack(files)
	if b.embed != "" {
		if err := b.writeEmbedded(version, files, packed); err != nil {
			return err
		}
	}
	if err := b.writePackage(version, files); err != nil {
		return err
	}
	return b.report(files, packed)
}

// program gives the compiled program and the script that it needs.
func (b builder) program() (program, support []byte, err error) {
	support, err = read(b.exec, func() ([]byte, error) {
		root, err := goroot()
		if err != nil {
			return nil, err
		}
		return os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	})
	if err != nil {
		return nil, nil, err
	}
	program, err = read(b.wasm, compile)
	if err != nil || b.names {
		return program, support, err
	}
	program, err = slim.Program(program)
	if errors.Is(err, slim.ErrTables) {
		if b.wasm == "" { // TinyGo's programs have no such table
			fmt.Fprintln(b.log, "warning:", err)
		}
		err = nil
	}
	return program, support, err
}

func read(file string, otherwise func() ([]byte, error)) ([]byte, error) {
	if file == "" {
		return otherwise()
	}
	return os.ReadFile(file)
}

// sources are the files of the package that are not made.
func (b builder) sources() ([]string, error) {
	var names []string
	for _, folder := range []string{"", sdktest} {
		entries, err := os.ReadDir(filepath.Join(b.source, folder))
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

// version names everything that the result is made of.
func (b builder) version(program, support []byte) (string, error) {
	sum := sha256.New()
	names, err := b.sources()
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
			name = filepath.Join(b.source, name)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		add(content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}
