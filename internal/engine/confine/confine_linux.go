package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The limits on Linux: prlimit.

// apply limits the process with that id; 0 is this process. A process that has ended already needs no limits.
func apply(pid int, l Limits) error {
	limits := []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, l.File}, {unix.RLIMIT_NOFILE, files}, {unix.RLIMIT_DATA, l.Memory}, {unix.RLIMIT_CPU, l.seconds()},
	}
	for _, each := range limits {
		if each.resource == unix.RLIMIT_CPU && l.CPU == 0 {
			continue
		}
		err := unix.Prlimit(pid, each.resource, &unix.Rlimit{Cur: each.value, Max: each.value}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("limit a process: %w", err)
		}
	}
	return nil
}
