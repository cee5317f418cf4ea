//go:build !js

// Command build makes what the server sends to browsers, and the npm package. It runs in the repository's root.
//
//	go run ./web/internal/build generate PROGRAM PAGE SUPPORT
//
// makes the files in internal/pagescript/dist, which are committed. PROGRAM and PAGE are the programs ./wasm and ./web/app, compiled by TinyGo, and
// SUPPORT is the script that they need. scripts/sdk.sh runs the command in this way.
//
//	go run ./web/internal/build check
//
// fails if the sources of these files have changed since.
//
//	go run ./web/internal/build npm FOLDER
//
// makes the npm package in FOLDER from these files.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The folders, from the repository's root.
var (
	npmSource  = filepath.Join("sdk", "npm")
	pageSource = filepath.Join("web", "page", "talk-page.js")
	generated  = filepath.Join("internal", "pagescript", "dist")
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(args []string, log io.Writer) error {
	switch {
	case len(args) == 4 && args[0] == "generate":
		return generate(generated, args[1], args[2], args[3], log)
	case len(args) == 1 && args[0] == "check":
		return check(generated)
	case len(args) == 2 && args[0] == "npm":
		return writePackage(generated, args[1])
	}
	return errors.New("usage: build generate PROGRAM PAGE SUPPORT | check | npm FOLDER")
}
