package rig

// Finds a TCP port for a program that keeps its address when it is started again.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports that FreeAddress takes. Systems give ports from 32768 on to connections and to listeners that ask for any port, so none of these is taken between two starts of a program.
const (
	firstPort = 10_000
	lastPort  = 32_000
	portTries = 100
)

// FreeAddress returns an address of this machine whose port is free.
func FreeAddress() (string, error) {
	var all error
	for range portTries {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, l.Close()
		}
		all = errors.Join(all, err)
	}
	return "", fmt.Errorf("there is no free port: %w", all)
}
