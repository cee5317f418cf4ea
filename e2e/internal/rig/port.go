package rig

// This file chooses addresses for programs that the tests start.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

// FreeAddress returns an address of this machine whose port is free, for a program that keeps its address when it is started again.
func FreeAddress() (string, error) {
	port, err := servertest.FreePort()
	return fmt.Sprint("127.0.0.1:", port), err
}
