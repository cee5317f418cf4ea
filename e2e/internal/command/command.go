// Package command has what the measuring programs of e2e share.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main runs a program: it reads the arguments with parse, and runs with the result. An interrupt ends the context. An error is printed behind
// the name of the program, and the program exits with status 1.
func Main[O any](name string, parse func(args []string) (O, error), run func(ctx context.Context, o O) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	} else if errors.Is(err, flag.ErrHelp) {
		return // the flags have been printed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}
