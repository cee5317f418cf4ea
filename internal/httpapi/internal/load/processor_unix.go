//go:build unix

package load

import (
	"syscall"
	"time"
)

// The processor time of the process, on Unix.

// ProcessorTime returns how much processor time the process has used.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
