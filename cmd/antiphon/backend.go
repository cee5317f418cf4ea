package main

// This file has `antiphon backend`: one back end of a pipeline in a process of its own.

import (
	"context"
	"errors"
	"fmt"

	engines "github.com/antiphon-rt/antiphon/server/pipeline/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/sphinx"
)

type backend struct {
	Name   string `arg:"" enum:"pocketsphinx" placeholder:"NAME" help:"Which one: ${enum}."`
	Socket string `type:"path" placeholder:"PATH" help:"Listen on this Unix socket instead of using standard input and output."`
}

// Run serves one back end until ctx is done or the standard input ends.
func (b *backend) Run(ctx context.Context) error {
	engine, err := sphinx.NewEngine(sphinx.Places{})
	var missing *sphinx.MissingError
	if errors.As(err, &missing) {
		return fmt.Errorf("%w: run %s", err, sphinx.Install)
	}
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		if b.Socket != "" {
			done <- engines.ServeUnix(ctx, b.Socket, engine)
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
