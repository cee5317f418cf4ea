package main

// This file has `antiphon backend`: one back end of a pipeline in a process of its own.

import (
	"context"
	"errors"
	"net"

	engines "github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/rpc"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
)

type backend struct {
	Name string `arg:"" enum:"sherpa" placeholder:"NAME" help:"Which one: ${enum}."`
	GRPC string `name:"grpc" placeholder:"ADDRESS" help:"Serve gRPC on this address, such as 127.0.0.1:50051, instead of using standard input and output."`
}

// Run serves one back end until ctx is done or the standard input ends.
func (b *backend) Run(ctx context.Context) error {
	engine, err := sherpa.Open(sherpa.Config{})
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		if b.GRPC != "" {
			done <- serveGRPC(ctx, b.GRPC, engine)
		} else {
			done <- engines.ServeStdio(ctx, engine)
		}
	}()
	select {
	case err := <-done:
		return errors.Join(err, engine.Close())
	case <-ctx.Done():
		return nil // a read of the standard input cannot be cancelled; it ends with the process
	}
}

// serveGRPC serves the engine at an address, one utterance at a time.
func serveGRPC(ctx context.Context, address string, e engines.Engine) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return rpc.Serve(ctx, l, e, 1)
}
