//go:build !js

package main

// The last steps of both builds: they pack files for sending, and write a folder so that an unfinished build is recognised.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/andybalholm/brotli"
)

// packed is a file in the two encodings that the server sends.
type packed struct{ brotli, gzip []byte }

// pack packs content: with brotli at the given level, 0 to 11, and with gzip as well as it can.
func pack(content []byte, level int) packed {
	var br, gz bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&gz, gzip.BestCompression)
	if err != nil {
		panic(err) // gzip knows this level
	}
	for _, w := range []io.WriteCloser{brotli.NewWriterLevel(&br, level), zipped} {
		_, _ = w.Write(content) // a buffer never fails
		_ = w.Close()
	}
	return packed{br.Bytes(), gz.Bytes()}
}

// writeFolder writes the files, by their names, into a folder, which it makes if need be. It writes the stamp last, a file that says
// what the others were made of, and removes the stamp of an earlier build first: a folder with a stamp is complete.
func writeFolder(folder, stampName string, stamp []byte, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	last := filepath.Join(folder, stampName)
	if err := os.Remove(last); err != nil && !os.IsNotExist(err) {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(last, stamp, 0o644)
}

// jsonLine returns v as one line of JSON.
func jsonLine(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	return append(line, '\n'), err
}
