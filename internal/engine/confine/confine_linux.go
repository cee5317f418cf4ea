package confine

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// The limits on Linux: prlimit, and no_new_privs.

// start forks from a thread with no_new_privs, which the process inherits. The thread ends with its goroutine, so the server itself stays as it is.
func start(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // without UnlockOSThread the thread serves nobody else
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

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
