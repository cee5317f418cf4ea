// Unsliced explores the whole composition of a session: its queue of replies, a client that reports, the words of turns, the
// connection and changes of the settings, all together. It prints what it met, and exits with 1 where an invariant does not hold.
//
//	go run ./cmd/unsliced                all there is (make verify-long)
//	go run ./cmd/unsliced -states 50000  the first 50,000 states, breadth first
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "unsliced: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("unsliced", flag.ContinueOnError)
	states := flags.Int("states", 0, "the most states that are met; 0 is all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	began := time.Now()
	found, err := conform.Unsliced{Settings: conform.UnslicedSettings(), Limit: *states, Next: session.Next}.Explore()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "states=%d edges=%d whole=%t seconds=%.0f\n", found.States, found.Edges, found.Whole, time.Since(began).Seconds())
	return err
}
