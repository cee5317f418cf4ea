package enginebench

// This file reads what the processes of the engines take: processor time and memory. It needs Linux.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// processorTime returns the processor time of all child processes, those that have ended included.
func processorTime() time.Duration {
	var ended syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ended) // it cannot fail
	all := time.Duration(ended.Utime.Nano() + ended.Stime.Nano())
	for _, fields := range children() {
		var user, system time.Duration
		_, _ = fmt.Sscan(fields[11], &user) // the kernel writes numbers
		_, _ = fmt.Sscan(fields[12], &system)
		all += (user + system) * tick
	}
	return all
}

// memory returns the peak of the resident memory of all child processes that run, in bytes.
func memory() (all int64) {
	for folder := range children() {
		status, _ := os.ReadFile(folder + "/status") // the process may have ended
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		var kb int64
		_, _ = fmt.Sscan(peak, &kb)
		all += kb << 10
	}
	return all
}

// children returns the fields of /proc/PID/stat of each child process, from the state on, by folder.
func children() map[string][]string {
	found := map[string][]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range all {
		stat, _ := os.ReadFile(file)                     // the process may have ended
		name := strings.LastIndexByte(string(stat), ')') // the name of the program may contain anything
		fields := strings.Fields(string(stat[name+1:]))
		if len(fields) > 12 && fields[1] == fmt.Sprint(os.Getpid()) {
			found[filepath.Dir(file)] = fields
		}
	}
	return found
}
