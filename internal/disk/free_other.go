//go:build !linux && !darwin

package disk

// The free space of a disk, on systems that report a full disk only when a file is written.

import "math"

// Free returns the largest number.
func Free(string) (int64, error) { return math.MaxInt64, nil }
