//go:build !windows

package mcp

// This file kills the programs of a server together.

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the program a process group of its own, which is killed as a whole: npx and uvx start further programs.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
