package confine

import (
	"os/exec"
	"time"
)

// The limits of a process, and how a command runs with them.

// Limits are what a process may use. It writes no core dump in any case.
type Limits struct {
	// Memory is the size of the data of the process, in bytes.
	Memory uint64
	// CPU is the processor time of the process, rounded up to seconds; 0 is no limit.
	CPU time.Duration
	// File is the size of the largest file that the process may write, in bytes; 0 lets it write none. A pipe is no file.
	File uint64
}

// files is how many files and pipes a process may have open.
const files = 128

// seconds returns the CPU limit in whole seconds.
func (l Limits) seconds() uint64 { return uint64((l.CPU + time.Second - 1) / time.Second) }

// Run runs a command like cmd.Run, and limits its process as soon as it exists.
func Run(cmd *exec.Cmd, l Limits) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := apply(cmd.Process.Pid, l); err != nil {
		_ = cmd.Process.Kill() // without limits it does not run
		_ = cmd.Wait()         // the error of apply says why
		return err
	}
	return cmd.Wait()
}

// Self limits the process itself.
func Self(l Limits) error { return apply(0, l) }
