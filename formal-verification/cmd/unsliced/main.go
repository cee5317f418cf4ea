// Unsliced explores the whole composition of a session: its queue of replies, a client that reports, the words of turns and the
// connection, all together. It explores each of two settings whole, and then, as far as -states goes, a session whose settings
// change between the two. It prints what it met, and exits with 1 where an invariant does not hold.
//
//	go run ./cmd/unsliced                make verify-long
//	go run ./cmd/unsliced -states 50000  no more than 50,000 states of each
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
	states := flags.Int("states", 0, "the most states that are met of each exploration; 0: all, and 1,000,000 where settings change")
	if err := flags.Parse(args); err != nil {
		return err
	}
	both := conform.UnslicedSettings()
	changing := *states
	if changing == 0 {
		changing = 1_000_000
	}
	for _, u := range []conform.Unsliced{
		{Settings: both[:1], Limit: *states}, {Settings: both[1:], Limit: *states}, {Settings: both, Limit: changing},
	} {
		u.Next = session.Next
		began := time.Now()
		found, err := u.Explore()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "settings=%d first=%+v states=%d edges=%d whole=%t seconds=%.0f\n", len(u.Settings), u.Settings[0],
			found.States, found.Edges, found.Whole, time.Since(began).Seconds()); err != nil {
			return err
		}
	}
	return nil
}
