package parakeet

// This file keeps what the library prints out of the protocol, on Linux.

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout returns the standard output for the protocol. What the library prints to its standard output goes to the standard error from
// then on, which the parent process logs.
func takeStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(unix.Stdout), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup3(unix.Stderr, unix.Stdout, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("the standard output: %w", err)
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}
