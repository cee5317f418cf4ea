//go:build !js

// Command build makes what the server sends to browsers: the client program of the Talk page (web/app), and the page's script (sdk/npm)
// with the program behind it (wasm):
//
//	go run ./web/internal/build                 both
//	go run ./web/internal/build page [flags]    the Talk page, into web/dist
//	go run ./web/internal/build script [flags]  the page's script, into internal/pagescript/dist and as npm package into sdk/npm/dist
//
// It runs in the repository's root and needs the Go toolchain alone. The server embeds both folders. When nothing has changed, the
// command leaves the folders as they are. The flag -h lists the flags of a target.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/andybalholm/brotli"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run builds the target that the arguments name, or both when they name none. It reports to log.
func run(args []string, log io.Writer) error {
	switch {
	case len(args) == 0:
		if err := newScript(nil, log).build(); err != nil {
			return fmt.Errorf("build of the page's script failed: %w", err)
		}
		args = []string{"page"}
		fallthrough
	case args[0] == "page":
		if err := newPage(args[1:], log).build(); err != nil {
			return fmt.Errorf("build of the Talk page failed: %w", err)
		}
	case args[0] == "script":
		if err := newScript(args[1:], log).build(); err != nil {
			return fmt.Errorf("build of the page's script failed: %w", err)
		}
	default:
		return fmt.Errorf("there is no target %q: there are page and script", args[0])
	}
	return nil
}

// newPage returns the build of the Talk page that the flags describe. A wrong flag ends the program.
func newPage(args []string, log io.Writer) page {
	p := page{level: brotliLevel, log: log}
	flags := flag.NewFlagSet("page", flag.ExitOnError)
	flags.StringVar(&p.pkg, "pkg", "./web/app", "package of the client program")
	flags.StringVar(&p.folder, "o", filepath.Join("web", "dist"), "folder for the result")
	best := flags.Bool("best", false, "spend half a minute on a file that is an eighth smaller, for a release")
	_ = flags.Parse(args) // ExitOnError
	if *best {
		p.level = brotli.BestCompression
	}
	return p
}

// newScript returns the build of the page's script that the flags describe. A wrong flag ends the program.
func newScript(args []string, log io.Writer) pageScript {
	s := pageScript{log: log}
	flags := flag.NewFlagSet("script", flag.ExitOnError)
	flags.StringVar(&s.source, "source", filepath.Join("sdk", "npm"), "folder of the script")
	flags.StringVar(&s.pkg, "npm", filepath.Join("sdk", "npm", "dist"), "folder for the npm package")
	flags.StringVar(&s.embed, "embed", filepath.Join("internal", "pagescript", "dist"), "folder for what the server serves; empty for none")
	flags.StringVar(&s.wasm, "wasm", "", "a program that is compiled already (with TinyGo); empty compiles ./wasm with Go")
	flags.StringVar(&s.exec, "exec", "", "the support script that the program of -wasm needs; empty takes Go's")
	flags.BoolVar(&s.names, "names", false, "keep the names of functions, for the stack of a panic; a fifth larger")
	_ = flags.Parse(args) // ExitOnError
	return s
}
