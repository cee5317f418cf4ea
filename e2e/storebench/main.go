package main

// This file has the flags of the command, and its table.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
)

// options are the flags.
type options struct {
	n      int
	folder string
}

func main() {
	command.Main("storebench", parse, func(ctx context.Context, o options) error { return run(ctx, o, os.Stdout) })
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("storebench", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 1000, "how many requests each row has")
	f.StringVar(&o.folder, "folder", os.TempDir(), "where to write: on the disk that is measured")
	err = f.Parse(args)
	return o, err
}

// maxRequests bounds -n.
const maxRequests = 100_000

// run measures and prints a table in Markdown.
func run(ctx context.Context, o options, out io.Writer) error {
	if o.n < 1 || o.n > maxRequests {
		return fmt.Errorf("-n %d: want 1 to %d", o.n, maxRequests)
	}
	folder, err := os.MkdirTemp(o.folder, "storebench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it has nothing that anybody needs
	load, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		fmt.Fprintf(out, "load at the beginning: %s; %d requests a row\n\n", strings.Fields(string(load))[0], o.n)
	}
	fmt.Fprintln(out, "| one after another | p50 | p99 |\n|---|---|---|")
	row := func(name string, measure func() ([]time.Duration, error)) error {
		times, err := measure()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", name, show(percentile(times, 50)), show(percentile(times, 99)))
		return ctx.Err()
	}
	if err := row("floor: 512 bytes appended to a file and synced", func() ([]time.Duration, error) { return floor(folder, o.n) }); err != nil {
		return err
	}
	service := startService()
	defer service.Close()
	if err := row("the service alone", func() ([]time.Duration, error) { return requests(ctx, service.URL, o.n, noKey) }); err != nil {
		return err
	}
	for _, s := range stores {
		if err := s.measure(ctx, filepath.Join(folder, strings.ReplaceAll(s.name, " ", "-")), service.URL, o.n, row); err != nil {
			return err
		}
	}
	return nil
}

// percentile returns a percentile of times.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func show(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// floor appends to a file and syncs it, n times.
func floor(folder string, n int) (times []time.Duration, err error) {
	f, err := os.Create(filepath.Join(folder, "floor"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data := make([]byte, 512)
	for range n {
		begin := time.Now()
		if _, err := f.Write(data); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
}
