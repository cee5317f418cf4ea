//go:build !windows

package backend

// This file keeps a Ctrl-C at the terminal away from the back-end processes.

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup gives the process a process group of its own, so that only the server gets a Ctrl-C at the terminal. The server
// then ends its processes in order.
func ownProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
