package main

// This file opens recordings, and finds files that others can read.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// Permissions of files that only this user may read, and those that let others read.
const (
	onlyThisUser = 0o600
	othersRead   = 0o044
)

// openPrivate opens a file to append to it, for flag. It creates the file so that only this user can read it. It refuses a symbolic
// link, a file that others can read, and what is no file: a recording has what people said.
func openPrivate(flag, path string) (*os.File, error) {
	before, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, onlyThisUser) // O_EXCL follows no link
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", flag, err)
	case !before.Mode().IsRegular():
		return nil, fmt.Errorf("%s %s is a link, a device or a folder: name a file", flag, path)
	case readableByOthers(before):
		return nil, fmt.Errorf("%s %s can be read by others: run chmod 600 %s, or name a new file", flag, path, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, onlyThisUser)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(before, now) {
		return nil, errors.Join(fmt.Errorf("%s %s was replaced while it was opened: try again", flag, path), f.Close())
	}
	return f, nil
}

// readableByOthers reports whether other users can read a file. On Windows the permissions do not say it.
func readableByOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&othersRead != 0
}
