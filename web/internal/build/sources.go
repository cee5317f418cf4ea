//go:build !js

package main

// The sources of the generated files, as hashes.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// hashes are the hashes of the sources: of all, and of those of the scripts without the programs.
type hashes struct{ all, scripts string }

// Every source of the programs besides their packages, and the sources of the scripts.
var (
	programSources = []string{"tools/tinygo", "scripts/sdk.sh", "scripts/tinygo.sh", "scripts/wasm-opt.sh"}
	scriptSources  = []string{npmSource, filepath.Dir(pageSource), "web/internal/build/bundle.go"}
)

// sources returns the hashes of the present sources.
func sources() (hashes, error) {
	scripts, err := filesOf(scriptSources)
	if err != nil {
		return hashes{}, err
	}
	programs, err := filesOf(programSources)
	if err != nil {
		return hashes{}, err
	}
	packages, err := packageFiles()
	if err != nil {
		return hashes{}, err
	}
	var h hashes
	if h.scripts, err = hash(scripts); err != nil {
		return h, err
	}
	h.all, err = hash(slices.Concat(scripts, programs, packages))
	return h, err
}

// filesOf returns the files in the folders, and the named files. It leaves out tests, and folders that are built.
func filesOf(names []string) (files []string, err error) {
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "dist" || d.Name() == "sdktest" || d.Name() == "react" || d.Name() == "vue"):
				return fs.SkipDir
			case !d.IsDir() && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".md"):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// packageFiles returns the files of this module's packages that the two programs are compiled of.
func packageFiles() (files []string, err error) {
	const format = `{{if and .Module .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}
{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-deps", "-f", format, "./wasm", "./web/app")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=-buildvcs=false")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for file := range strings.FieldsSeq(string(out)) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	return files, nil
}

// hash returns a hash of the names and the contents of the files.
func hash(files []string) (string, error) {
	sum := sha256.New()
	slices.Sort(files)
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, filepath.ToSlash(name), len(content))
		_, _ = sum.Write(content) // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil))[:24], nil
}
