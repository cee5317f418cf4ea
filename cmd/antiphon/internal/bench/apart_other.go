//go:build !linux

package bench

// This file starts the server where processors cannot be given to processes.

import "context"

// startApart starts a server that shares all processors.
func startApart(ctx context.Context) (server *child, apart bool, err error) {
	server, err = startChild(ctx)
	return server, false, err
}
