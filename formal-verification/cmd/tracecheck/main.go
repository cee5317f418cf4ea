// Tracecheck holds what a running server did to the machines' tables and to their specs; package trace says how.
//
//	antiphon serve --trace FILE.jsonl
//	go run ./cmd/tracecheck FILE.jsonl...
//	go run ./cmd/tracecheck -specs "" FILE.jsonl...   to the tables alone, at once
//
// Where FILE.record is beside FILE.jsonl, which `antiphon serve --record FILE.record` wrote of the same sessions, what a client
// can know by these events is compared with the machines' states, too.
//
// It prints what it has checked, and exits with 1 at the first line that is no step.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/trace"
)

func main() { check.Program("tracecheck", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("tracecheck", flag.ContinueOnError)
	folder := flags.String("specs", "specs", "folder of the specs; empty: hold the traces to the tables alone")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("there is no trace to check: name the files that `antiphon serve --trace FILE` wrote")
	}
	var specs []*trace.Spec
	if *folder != "" {
		var err error
		if specs, err = trace.Read(ctx, *folder); err != nil {
			return err
		}
	}
	c := trace.New(specs...)
	for _, name := range flags.Args() {
		if err := one(c, name); err != nil {
			return err
		}
	}
	if err := c.Ends(); err != nil {
		return err
	}
	f := c.Figures()
	_, err := fmt.Fprintf(out, "traces=%d sessions=%d steps=%d ignored=%d specified=%d beyond=%d composed=%d alone=%d composed_beyond=%d views=%d\n",
		flags.NArg(), f.Sessions, f.Steps, f.Ignored, f.Specified, f.Beyond, f.Composed, f.Alone, f.ComposedBeyond, f.Views)
	return err
}

func one(c *trace.Checker, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	if err := c.Log(name, f); err != nil {
		return err
	}
	record, err := os.Open(strings.TrimSuffix(name, ".jsonl") + ".record")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = record.Close() }() // and so is this
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s again: %w", name, err)
	}
	return c.View(name, f, record)
}
