package terminal

// This file connects the client to the standard input and output of the process.

import (
	"io"
	"os"
)

// Console is where the client reads messages and prints the conversation.
type Console struct {
	In       io.Reader
	Out, Err io.Writer // Err gets notes and what the user said
	// InTerminal and OutTerminal say whether In and Out are a terminal.
	InTerminal, OutTerminal bool
}

// Standard returns the console of this process.
func Standard() Console {
	return Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, InTerminal: isTerminal(os.Stdin), OutTerminal: isTerminal(os.Stdout)}
}

// isTerminal reports whether f is a terminal. It takes every character device for one except the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
