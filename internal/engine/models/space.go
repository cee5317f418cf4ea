package models

// The free space of a disk.

import (
	"errors"
	"fmt"

	"github.com/antiphon-rt/antiphon/internal/disk"
)

// ErrNoSpace: the disk is too full.
var ErrNoSpace = errors.New("not enough space on the disk")

// enoughSpace returns an error that wraps ErrNoSpace if the folder's disk has less than that many bytes free.
func enoughSpace(folder string, bytes int64) error {
	free, err := disk.Free(folder)
	if err != nil {
		return err
	}
	if free < bytes {
		return fmt.Errorf("%w: %s has %d MB, %d MB are needed", ErrNoSpace, folder, free>>20, bytes>>20)
	}
	return nil
}
