// Command build makes the client program of the Talk page and puts it into
// web/dist, from where it is embedded into the server:
//
//	go run ./web/internal/build
//
// It runs in the repository's root with the Go toolchain alone. When the
// program has not changed, what is there is left as it is. -best spends half a
// minute on files that are an eighth smaller, for a release.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/andybalholm/brotli"

	"github.com/antiphon-rt/antiphon/web/internal/dist"
	"github.com/antiphon-rt/antiphon/web/internal/slim"
)

func main() {
	pkg := flag.String("pkg", "./web/app", "package of the client program")
	folder := flag.String("o", filepath.Join("web", "dist"), "folder for the result")
	best := flag.Bool("best", false, "spend much more time for smaller files")
	flag.Parse()
	b := builder{pkg: *pkg, folder: *folder, level: brotliLevel, log: os.Stdout}
	if *best {
		b.level = brotli.BestCompression
	}
	if err := b.build(); err != nil {
		fmt.Fprintln(os.Stderr, "build of the Talk page failed:", err)
		os.Exit(1)
	}
}

// brotliLevel takes 2.5 s for this program where the best takes 24 s.
const brotliLevel = 9

// builder makes the files of one client program.
type builder struct {
	pkg    string // of the client program
	folder string // for the result
	level  int    // of brotli
	log    io.Writer
}

func (b builder) build() error {
	program, err := compile(b.pkg)
	if err != nil {
		return err
	}
	program, err = slim.Program(program)
	if errors.Is(err, slim.ErrTables) {
		fmt.Fprintln(b.log, "warning:", err)
	} else if err != nil {
		return err
	}
	sum := sha256.Sum256(program)
	m := dist.Manifest{SHA256: hex.EncodeToString(sum[:]), Size: len(program), Go: runtime.Version(), Level: b.level}
	if b.current(m) {
		fmt.Fprintln(b.log, "the Talk page is up to date")
		return nil
	}
	support, err := supportScript()
	if err != nil {
		return err
	}
	return b.write(m, program, support)
}

// compile builds the client program for the browser and returns it.
func compile(pkg string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "antiphon-web-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "app.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build %s for the browser: %w", pkg, err)
	}
	return os.ReadFile(out)
}

// supportScript returns the script that Go's wasm programs need, from the
// toolchain that compiled the program: the two must fit.
func supportScript() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", dist.WasmExecFile))
}

// current reports whether the folder holds this very program. The manifest is
// written last, so it stands for all the files.
func (b builder) current(m dist.Manifest) bool {
	raw, err := os.ReadFile(filepath.Join(b.folder, dist.ManifestFile))
	if err != nil {
		return false
	}
	var there dist.Manifest
	return json.Unmarshal(raw, &there) == nil && there == m
}

func (b builder) write(m dist.Manifest, program, support []byte) error {
	if err := os.MkdirAll(b.folder, 0o755); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.folder, dist.ManifestFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	br, err := shrink(program, func(w io.Writer) (io.WriteCloser, error) {
		return brotli.NewWriterLevel(w, b.level), nil
	})
	if err != nil {
		return err
	}
	gz, err := shrink(program, func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.BestCompression)
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		return err
	}
	files := []struct {
		name    string
		content []byte
	}{
		{dist.WasmBrotliFile, br},
		{dist.WasmGzipFile, gz},
		{dist.WasmExecFile, support},
		{dist.ManifestFile, append(manifest, '\n')},
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(b.folder, f.name), f.content, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.log, "Talk page: %d kB as the browser runs it, %d kB brotli, %d kB gzip\n",
		len(program)/1000, len(br)/1000, len(gz)/1000)
	return nil
}

func shrink(content []byte, to func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var short bytes.Buffer
	w, err := to(&short)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return short.Bytes(), nil
}
