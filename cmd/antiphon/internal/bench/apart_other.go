//go:build !linux

package bench

// This file starts the server where processors cannot be given to processes.

// startApart starts a server, which shares all processors.
func startApart(start func() (*child, error)) (server *child, apart bool, err error) {
	server, err = start()
	return server, false, err
}
