//go:build unix

package httpguard

import "syscall"

// The number of descriptors that the process may open, on Unix.

// descriptors returns how many files and sockets the process may have open at a time.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 2 * maxConnections
	}
	return int(min(limit.Cur, 1<<30))
}
