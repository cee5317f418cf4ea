//go:build !js

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// inlining is for the voice detector alone, which runs a hundred times a second, and for what it calls. For all else it makes the
// program larger by a fifteenth and nothing noticeably faster.
var inlining = []string{"-gcflags=all=-l", "-gcflags=github.com/antiphon-rt/antiphon/voice=", "-gcflags=math/...="}

// compile builds the program for the browser and returns it.
func compile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "antiphon-script-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	settings, err := withoutSettings(dir)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "antiphon.wasm")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-overlay", settings, "-ldflags", "-s -w"}, inlining...)
	cmd := exec.Command("go", append(args, "-o", out, "./wasm")...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build ./wasm for the browser: %w", err)
	}
	return os.ReadFile(out)
}

// withoutSettings writes the file that has Go take our internal/godebug for its own, which reads the environment variable GODEBUG and
// counts in the runtime's metrics what it finds there. A page has no environment; the counting alone is 20 kB of the packed program.
func withoutSettings(dir string) (file string, err error) {
	root, err := goroot()
	if err != nil {
		return "", err
	}
	ours, err := filepath.Abs(filepath.Join("tools", "tinygo", "library", "godebug", "godebug.go"))
	if err != nil {
		return "", err
	}
	overlay := map[string]map[string]string{"Replace": {filepath.Join(root, "src", "internal", "godebug", "godebug.go"): ours}}
	content, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, content, 0o600)
}

func goroot() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}
