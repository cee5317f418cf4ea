//go:build !linux

package bench

// This file starts the server where processors cannot be given to processes.

import "context"

// startApart starts a server with further flags, which shares all processors.
func startApart(ctx context.Context, flags ...string) (server *child, apart bool, err error) {
	server, err = startChild(ctx, flags...)
	return server, false, err
}
