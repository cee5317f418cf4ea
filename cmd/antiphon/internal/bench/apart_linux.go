package bench

// This file gives the server and the clients a processor each.

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// startApart starts a server with further flags, which has processor 0 to itself, and moves this process to processor 1. apart is false, and the server
// shares all processors, on a machine with fewer than two processors or where the system refuses.
func startApart(ctx context.Context, flags ...string) (server *child, apart bool, err error) {
	if runtime.NumCPU() < 2 {
		server, err = startChild(ctx, flags...)
		return server, false, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	apart = pin(0, 0) == nil // a child has the processors of the thread that starts it
	server, err = startChild(ctx, flags...)
	if err != nil || !apart {
		return server, apart, err
	}
	threads, err := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		id, bad := strconv.Atoi(t.Name())
		err = errors.Join(err, bad, pin(id, 1))
	}
	runtime.GOMAXPROCS(1)
	return server, true, err
}

// pin gives a thread one processor; thread 0 is the calling one.
func pin(thread, processor int) error {
	var set unix.CPUSet
	set.Set(processor)
	return unix.SchedSetaffinity(thread, &set)
}
