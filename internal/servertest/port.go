package servertest

// The port of a server that opens it itself.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports that FreePort takes. Systems give ports from 32768 on to connections, and to sockets and listeners that ask for any port, so nobody takes one of
// these before the server does.
const firstPort, lastPort, portTries = 10_000, 32_000, 100

// FreePort returns a port that is free over TCP and UDP on all addresses of this machine.
func FreePort() (int, error) {
	var all error
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort)
		tcp, err := net.Listen("tcp", fmt.Sprint(":", port))
		if err == nil {
			var udp net.PacketConn
			if udp, err = net.ListenPacket("udp", fmt.Sprint(":", port)); err == nil {
				return port, errors.Join(tcp.Close(), udp.Close())
			}
			err = errors.Join(err, tcp.Close())
		}
		all = errors.Join(all, err)
	}
	return 0, fmt.Errorf("there is no free port: %w", all)
}
