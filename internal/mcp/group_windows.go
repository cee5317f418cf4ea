package mcp

// This file is group.go for Windows.

import "os/exec"

// ownGroup does nothing: the program alone is killed.
func ownGroup(*exec.Cmd) {}
