//go:build linux || darwin

package disk

// The free space of a disk, on Linux and macOS.

import "golang.org/x/sys/unix"

// Free returns how many bytes a program without special rights may still write to the disk that has the folder.
func Free(folder string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
