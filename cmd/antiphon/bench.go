package main

// This file has the flags of `antiphon bench` and their bounds.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	benchmark "github.com/antiphon-rt/antiphon/cmd/antiphon/internal/bench"
	"github.com/antiphon-rt/antiphon/internal/version"
)

type bench struct {
	Time     time.Duration `default:"20s" help:"About how long to measure in all."`
	Sessions int           `placeholder:"N" help:"Measure the capacity of a processor instead: hold more and more calls at a time, up to this many, each number for half of --time, and print how late the frames come."`
	Soak     bool          `help:"With --sessions: hold all calls for the whole --time, and print how the server's memory changes."`
	Profile  string        `type:"path" placeholder:"DIR" help:"With --sessions: write profiles of the server under load into this directory, for go tool pprof."`
	Bare     int           `hidden:"" help:"Print the memory that so many peers of pion's take, in bytes each, and nothing else."`

	BareServer bool `hidden:"" help:"Answer calls with bare pion, and do nothing else."`
}

// Bounds of --time: a benchmark must end.
const (
	minBenchTime = 5 * time.Second
	maxBenchTime = 10 * time.Minute
)

func (b *bench) Run(ctx context.Context) error {
	if b.Time < minBenchTime || b.Time > maxBenchTime {
		return fmt.Errorf("--time %v: want %v to %v", b.Time, minBenchTime, maxBenchTime)
	}
	if b.Sessions < 0 || b.Sessions > benchmark.MaxSessions {
		return fmt.Errorf("--sessions %d: want at most %d", b.Sessions, benchmark.MaxSessions)
	}
	if b.Sessions == 0 && (b.Soak || b.Profile != "") {
		return errors.New("--soak and --profile: want --sessions N, too")
	}
	ctx, cancel := context.WithTimeout(ctx, 4*b.Time+2*time.Minute+time.Duration(b.Sessions)*(b.Time/50+time.Second))
	defer cancel()
	if b.BareServer {
		return benchmark.ServeBare(ctx, os.Stdout)
	}
	if b.Bare != 0 {
		return benchmark.PrintBare(ctx, os.Stdout, min(b.Bare, benchmark.MaxSessions))
	}
	return benchmark.Run(ctx, os.Stdout, benchmark.Options{
		Version: version.Version, Time: b.Time, Sessions: b.Sessions, Soak: b.Soak, Profile: b.Profile,
	})
}
