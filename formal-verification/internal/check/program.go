package check

// The main function of the commands that explore specs.

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Program runs a command that uses this package, and calls Main for it. run gets the arguments and the standard output; an interrupt
// ends its context. If run returns an error, Program prints it after the command's name and exits with 1.
func Program(name string, run func(ctx context.Context, args []string, out io.Writer) error) {
	Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+": "+err.Error())
		os.Exit(1)
	}
}
