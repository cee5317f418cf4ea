package models

// This file takes the files of a model out of the archive of its package.

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Errors of archives and files.
var (
	// ErrChecksum: a file is not the one that the catalogue means.
	ErrChecksum = errors.New("wrong checksum")
	// ErrArchive: the archive does not have what the catalogue says.
	ErrArchive = errors.New("the package is not as expected")
)

// maxEntries limits the entries of an archive.
const maxEntries = 100_000

// archiveKind returns "zip", "tgz", or "" for the name of a file that is no archive.
func archiveKind(name string) string {
	switch {
	case strings.HasSuffix(name, ".whl"), strings.HasSuffix(name, ".zip"):
		return "zip"
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return "tgz"
	}
	return ""
}

// unpack writes the files of the model into the folder. It reads only the entries that the catalogue names, each up to its limit, and writes
// only to the paths of the catalogue. So an archive cannot write anywhere else, and cannot fill the disk.
func unpack(archive, folder string, m *Model) error {
	wanted := map[string]File{}
	for _, f := range m.Files {
		wanted[f.From] = f
	}
	take := func(name string, open func() (io.ReadCloser, error)) error {
		f, ok := wanted[name]
		if !ok {
			return nil
		}
		delete(wanted, name)
		if err := write(folder, f, open); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		return nil
	}
	var err error
	if archiveKind(m.Package.File) == "zip" {
		err = eachOfZip(archive, take)
	} else {
		err = eachOfTar(archive, take)
	}
	if err != nil {
		return err
	}
	for name := range wanted {
		return fmt.Errorf("%w: it has no file %s", ErrArchive, name)
	}
	return nil
}

func eachOfZip(archive string, take func(string, func() (io.ReadCloser, error)) error) (err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	if len(z.File) > maxEntries {
		return fmt.Errorf("%w: more than %d entries", ErrArchive, maxEntries)
	}
	for _, entry := range z.File {
		if entry.Mode().IsRegular() {
			if err := take(entry.Name, entry.Open); err != nil {
				return err
			}
		}
	}
	return nil
}

func eachOfTar(archive string, take func(string, func() (io.ReadCloser, error)) error) (err error) {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	// What is not wanted must be read, too. This limits how much that may be.
	t := tar.NewReader(io.LimitReader(plain, 2*maxFile))
	for range maxEntries {
		entry, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := take(entry.Name, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: more than %d entries", ErrArchive, maxEntries)
}

// write writes one file of the model, converts it, and compares it with the catalogue.
func write(folder string, f File, open func() (io.ReadCloser, error)) error {
	target := filepath.Join(folder, filepath.FromSlash(path.Clean(f.Path)))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	in, err := open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	// A file that is converted may be larger before than after.
	limit := f.Bytes
	if f.As != "" {
		limit += maxConverted
	}
	n, err := io.Copy(out, io.LimitReader(in, limit+1))
	if err = errors.Join(err, in.Close(), out.Close()); err != nil {
		return err
	}
	if n > limit {
		return fmt.Errorf("%w: it has more than %d bytes", ErrChecksum, limit)
	}
	if f.As != "" {
		if err := converters()[f.As](target, f); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrArchive, f.As, err)
		}
	}
	return checkFile(target, f.Bytes, f.SHA256)
}

// checkFile returns an error that wraps ErrChecksum if the file does not have this size and SHA-256.
func checkFile(name string, size int64, sum string) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, size+1))
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); n != size || got != sum {
		return fmt.Errorf("%w: %s is not the file that the catalogue names (SHA-256 %s)", ErrChecksum, filepath.Base(name), sum)
	}
	return nil
}
