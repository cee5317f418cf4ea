package main

// Flags of the command, and the rows that it runs in order.

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
)

// options are the flags.
type options struct {
	rows    []string
	clients []string // none: all
	n       int
	echo    time.Duration
	out     string
}

// among returns those of the given clients that the options select.
func (o options) among(clients ...string) []string {
	return slices.DeleteFunc(clients, func(c string) bool { return len(o.clients) > 0 && !slices.Contains(o.clients, c) })
}

// row is one measurement that -rows can select.
type row struct {
	name    string
	measure func(*house, options, *results) error
}

// rows are all measurements, in their order.
var rows = []row{
	{"silence", silence},
	{"coughs", coughs},
	{"echo", echo},
	{"sizes", sizes},
	{"start", starts},
	{"heap", heap},
}

func main() { command.Main("bargein", parse, run) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bargein", flag.ContinueOnError)
	only := f.String("rows", "", "rows to measure, with commas between; all of them when empty")
	clients := f.String("clients", "", "clients to measure, with commas between: ours, unpredicted, stock, naive; all of them when empty")
	f.IntVar(&o.n, "n", 6, "interruptions behind each link; three times as many behind that of the targets")
	f.DurationVar(&o.echo, "echo", 5*time.Minute, "playback with an echo")
	f.StringVar(&o.out, "out", "", "file for the table, when all rows are measured")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.clients = list(*clients)
	for _, name := range list(*only) {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			return o, fmt.Errorf("no row is called %q", name)
		}
		o.rows = append(o.rows, name)
	}
	if o.n < 1 || o.n > 1000 || o.echo < time.Second || o.echo > time.Hour {
		return o, errors.New("-n: want 1 to 1000; -echo: want 1s to 1h")
	}
	return o, nil
}

// list returns the words between the commas.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// run measures the selected rows and prints the results. It fails when a hard target was missed.
func run(ctx context.Context, o options) (err error) {
	about := machine(ctx)
	h, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	r := &results{}
	began := time.Now()
	for _, row := range rows {
		if len(o.rows) > 0 && !slices.Contains(o.rows, row.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bargein: %s, after %v\n", row.name, time.Since(began).Round(time.Second))
		if err := row.measure(h, o, r); err != nil {
			r.failed(row.name, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Barge-in, measured\n\n`make bench-bargein` took %v, with -n %d and -echo %v. Every figure comes from that one run.\n\n%s\n\n",
		time.Since(began).Round(time.Second), o.n, o.echo, strings.Join(about, "\n"))
	if err := r.print(&text); err != nil {
		return err
	}
	fmt.Print(text.String())
	if o.out != "" && len(o.rows)+len(o.clients) == 0 {
		if err := os.WriteFile(o.out, text.Bytes(), 0o644); err != nil { //nolint:gosec // a document
			return err
		}
	}
	if missed := r.missed(); len(missed) > 0 {
		return fmt.Errorf("%d hard targets were missed, the first of them: %s: %s instead of %s", len(missed), missed[0].what, missed[0].got, missed[0].want)
	}
	return nil
}
