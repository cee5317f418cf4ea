// Command gen writes the event types of package wire from its table of events.
//
// It is run by go generate in the folder of package wire, reads events.table there and writes client_gen.go, server_gen.go and
// codec_gen.go beside it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the generated files by name.
func generate(dir string) (map[string][]byte, error) {
	table, err := os.Open(filepath.Join(dir, "events.table"))
	if err != nil {
		return nil, err
	}
	defer table.Close()
	events, err := parse(table)
	if err != nil {
		return nil, fmt.Errorf("events.table: %w", err)
	}
	files := map[string][]byte{}
	for name, write := range map[string]func() ([]byte, error){
		"client_gen.go": func() ([]byte, error) { return structs(events, false) },
		"server_gen.go": func() ([]byte, error) { return structs(events, true) },
		"codec_gen.go":  func() ([]byte, error) { return methods(events) },
	} {
		if files[name], err = write(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}
