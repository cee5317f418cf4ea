// Package disk asks the system for the free space of a disk, and locks a folder against a second process.
package disk

import "errors"

// ErrLocked: another process has locked the folder.
var ErrLocked = errors.New("another process uses this folder")
