//go:build !js

package main

// The programs in WebAssembly: compiles them with Go, makes them slim, and finds the support script that they need.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/web/internal/dist"
	"github.com/antiphon-rt/antiphon/web/internal/slim"
)

// toolchain is the Go that compiles.
type toolchain struct {
	program string   // the program go
	env     []string // what it needs in addition to this process's environment
}

// compile compiles a package for the browser, with flags of go build besides the ones that each program needs, and returns the program.
func (t toolchain) compile(pkg string, flags ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "antiphon-web-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "program.wasm")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}, flags...)
	cmd := exec.Command(t.program, append(args, "-o", out, pkg)...)
	cmd.Env = append(append(os.Environ(), "GOOS=js", "GOARCH=wasm"), t.env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build %s for the browser: %w", pkg, err)
	}
	return os.ReadFile(out)
}

// slimmed returns the program in its smaller form. Where the names of functions have to stay in, it says so on log.
func slimmed(program []byte, log io.Writer) ([]byte, error) {
	program, err := slim.Program(program)
	if errors.Is(err, slim.ErrTables) {
		fmt.Fprintln(log, "warning:", err)
		err = nil
	}
	return program, err
}

// inlining allows inlining in the voice activity detector, which runs a hundred times a second, and in what it calls. Elsewhere it would
// make the program larger by a fifteenth and nothing noticeably faster.
var inlining = []string{"-gcflags=all=-l", "-gcflags=github.com/antiphon-rt/antiphon/voice=", "-gcflags=math/...="}

// compileScript compiles the program behind the page's script and returns it.
func compileScript() ([]byte, error) {
	dir, err := os.MkdirTemp("", "antiphon-overlay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ours, err := filepath.Abs(filepath.Join("tools", "tinygo", "library", "godebug", "godebug.go"))
	if err != nil {
		return nil, err
	}
	tools, overlay, err := withoutSettings(dir, ours)
	if err != nil {
		return nil, err
	}
	return tools.compile("./wasm", append([]string{"-overlay", overlay}, inlining...)...)
}

// withoutSettings writes an overlay for go build into dir, which replaces Go's internal/godebug with the file ours. It returns the overlay's
// name, and the toolchain that it is for. Go's own package reads the environment variable GODEBUG, and counts in the runtime's metrics what it
// finds there. A page has no environment, and the counting alone is 20 kB of the packed program.
//
// A toolchain that Go has downloaded is in the module cache, where go build refuses to replace files. It compares paths, so the toolchain runs
// through a symbolic link outside of the cache.
func withoutSettings(dir, ours string) (tools toolchain, file string, err error) {
	installed, err := goroot()
	if err != nil {
		return tools, "", err
	}
	root := filepath.Join(dir, "goroot")
	if err := os.Symlink(installed, root); err != nil {
		return tools, "", err
	}
	overlay := map[string]map[string]string{"Replace": {filepath.Join(root, "src", "internal", "godebug", "godebug.go"): ours}}
	content, err := json.Marshal(overlay)
	if err != nil {
		return tools, "", err
	}
	file = filepath.Join(dir, "overlay.json")
	tools = toolchain{program: filepath.Join(root, "bin", "go"), env: []string{"GOROOT=" + root, "GOTOOLCHAIN=local"}}
	return tools, file, os.WriteFile(file, content, 0o600)
}

// supportScript returns the script that Go's WebAssembly programs need, from the toolchain that compiles them: the two must fit.
func supportScript() ([]byte, error) {
	root, err := goroot()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, "lib", "wasm", dist.WasmExecFile))
}

// goroot returns the folder of the Go toolchain.
func goroot() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}
