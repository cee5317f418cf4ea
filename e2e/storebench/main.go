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
	fmt.Fprintln(out, "| one after another | p50 | p99 | in a second |\n|---|---|---|---|")
	t := &table{ctx, out}
	if err := t.row("floor: 512 bytes appended to a file and synced", func() ([]time.Duration, error) { return floor(folder, o.n) }); err != nil {
		return err
	}
	service := startService()
	defer service.Close()
	if err := t.row("the service alone", func() ([]time.Duration, error) { return requests(ctx, service.URL, o.n, noKey) }); err != nil {
		return err
	}
	memory := []string{fmt.Sprintf("%.0f MB before the first store", resident())}
	for _, s := range stores {
		if err := s.measure(ctx, filepath.Join(folder, strings.ReplaceAll(s.name, " ", "-")), service.URL, o.n, t); err != nil {
			return err
		}
		memory = append(memory, fmt.Sprintf("%.0f MB after %s", resident(), s.name))
	}
	fmt.Fprintf(out, "\nmemory of this process, with client and service: %s\n", strings.Join(memory, ", "))
	return nil
}

// table prints the rows.
type table struct {
	ctx context.Context
	out io.Writer
}

// row prints what measure returns, and how many of it there were in a second.
func (t *table) row(name string, measure func() ([]time.Duration, error)) error {
	begin := time.Now()
	times, err := measure()
	return t.print(name, times, fmt.Sprintf("%.0f", float64(len(times))/time.Since(begin).Seconds()), err)
}

// bare is row for what is not all that measure does.
func (t *table) bare(name string, measure func() ([]time.Duration, error)) error {
	times, err := measure()
	return t.print(name, times, "", err)
}

func (t *table) print(name string, times []time.Duration, rate string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(t.out, "| %s | %s | %s | %s |\n", name, show(percentile(times, 50)), show(percentile(times, 99)), rate)
	return t.ctx.Err()
}

// resident returns the memory of this process in MB, or 0 if the system does not say it.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return float64(pages*os.Getpagesize()) / 1e6
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
