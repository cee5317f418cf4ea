package bench

// This file gives the server and the clients a processor each.

import (
	"errors"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// startApart starts a server, which has processor 0 to itself, and moves this process to processor 1. apart is false, and the server
// shares all processors, on a machine with fewer than two processors or where the system refuses.
func startApart(start func() (*child, error)) (server *child, apart bool, err error) {
	if runtime.NumCPU() < 2 {
		server, err = start()
		return server, false, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	apart = pin(0, 0) == nil // a child has the processors of the thread that starts it
	server, err = start()
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
