// Command fizzcheck explores one spec and prints one line: how much there is, and what holds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/gate"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// The exit codes: one a verdict. Where nothing is decided no line is printed.
const (
	holds     = 0
	broken    = 1
	stuck     = 2
	undecided = 2
)

const ending = ".fizz"

func main() {
	check.Main()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("fizzcheck", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		fmt.Fprintln(errs, "usage: fizzcheck [--plain] [--timeout 5m] [--memory 8192] FILE.fizz")
		fmt.Fprintln(errs, "exits with 0 (PASSED), 1 (FAILED) or 2 (DEADLOCK); with 2 and no line on stdout where nothing is decided")
		flags.PrintDefaults()
	}
	var o check.Options
	flags.BoolVar(&o.Plain, "plain", false, "check the spec as it is written, without the house rules")
	flags.DurationVar(&o.Timeout, "timeout", check.DefaultTimeout, "give up after this long")
	flags.IntVar(&o.MemoryMB, "memory", check.DefaultMemoryMB, "give up near as many megabytes")
	if err := flags.Parse(args); err != nil {
		return undecided
	}
	if flags.NArg() != 1 || !strings.HasSuffix(flags.Arg(0), ending) {
		flags.Usage()
		return undecided
	}
	name := strings.TrimSuffix(filepath.Base(flags.Arg(0)), ending)
	result, err := checkFile(ctx, flags.Arg(0), o)
	if err != nil {
		fmt.Fprintln(errs, err)
		return undecided
	}
	report(out, errs, name, result)
	switch result.Verdict {
	case check.Passed:
		return holds
	case check.Deadlock:
		return stuck
	case check.Failed:
	}
	return broken
}

func checkFile(ctx context.Context, path string, o check.Options) (check.Result, error) {
	src, err := read(path)
	if err != nil {
		return check.Result{}, fmt.Errorf("read the spec: %w", err)
	}
	f, err := parse.File(path, src)
	if err != nil {
		return check.Result{}, err
	}
	if o.Plain {
		o.Dir = filepath.Dir(path)
	} else if err := refused(path, gate.House(f)); err != nil {
		return check.Result{}, err
	}
	result, err := check.Spec(ctx, f, o)
	if err != nil {
		return check.Result{}, fmt.Errorf("%s: %w", path, err)
	}
	// What fails, fails; but where exploration was cut off, the end of it may be all that fails.
	if o.Plain || result.Verdict != check.Passed && !result.MaxActionsReached {
		return result, nil
	}
	return result, refused(path, gate.Whole(f, result))
}

// read reads no more than shows that a file is too long, and waits for nobody to write it.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: name a file with a spec", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	return io.ReadAll(io.LimitReader(f, parse.MaxSize+1))
}

// refused is an error where there is something against a spec, so that nothing is decided.
func refused(path string, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(path + ": " + strings.Join(problems, "\n"+path+": "))
}

// report prints the line that programs read, and for people how the failure comes about.
func report(out, errs io.Writer, name string, r check.Result) {
	line := fmt.Sprintf("spec=%s nodes=%d states=%d verdict=%s", name, r.Nodes, r.States, r.Verdict)
	if r.Assertion != "" {
		line += " assertion=" + r.Assertion
	}
	fmt.Fprintln(out, line)
	if r.MaxActionsReached {
		fmt.Fprintln(errs, "note: exploration ended at max_actions; longer runs were not looked at")
	}
	if len(r.Trace) > 0 {
		fmt.Fprint(errs, graph.Print(r.Trace))
	}
}
