//go:build linux || darwin

package models

// This file asks a Unix system for the free space of a disk.

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrNoSpace: the disk is too full.
var ErrNoSpace = errors.New("not enough space on the disk")

// enoughSpace returns an error that wraps ErrNoSpace if the folder's disk has less than that many bytes free.
func enoughSpace(folder string, bytes int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return err
	}
	if free := int64(st.Bavail) * int64(st.Bsize); free < bytes { //nolint:unconvert // the types differ between systems
		return fmt.Errorf("%w: %s has %d MB, %d MB are needed", ErrNoSpace, folder, free>>20, bytes>>20)
	}
	return nil
}
