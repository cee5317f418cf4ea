package embedded

// How the platform keeps a Ctrl-C at the terminal from the recogniser's processes.

import (
	"os/exec"
	"syscall"
)

// ownProcessGroup gives the process a group of its own, so that only the server gets a Ctrl-C at the terminal. The server then
// ends its processes in order.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
