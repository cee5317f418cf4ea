package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
)

type bench struct {
	Time     time.Duration `default:"20s" help:"About how long to measure in all."`
	Sessions int           `placeholder:"N" help:"Also hold this many calls at a time, in which the agent speaks 40 % of the time, and count what comes late."`
	Bare     int           `hidden:"" help:"Print the memory that so many peers of pion's take, in bytes each, and nothing else."`
}

// Bounds of the flags: a benchmark must not run away.
const (
	minBenchTime     = 5 * time.Second
	maxBenchTime     = 10 * time.Minute
	maxBenchSessions = 1000
)

// Run measures and prints. It passes no judgement: machines differ, which is why every figure has a reference beside it.
func (b *bench) Run(ctx context.Context) error {
	if b.Time < minBenchTime || b.Time > maxBenchTime {
		return fmt.Errorf("--time %v: want %v to %v", b.Time, minBenchTime, maxBenchTime)
	}
	if b.Sessions < 0 || b.Sessions > maxBenchSessions {
		return fmt.Errorf("--sessions %d: want at most %d", b.Sessions, maxBenchSessions)
	}
	ctx, cancel := context.WithTimeout(ctx, 4*b.Time+2*time.Minute)
	defer cancel()
	if b.Bare != 0 {
		return printBare(ctx, os.Stdout, min(b.Bare, maxBenchSessions))
	}
	fmt.Printf("Antiphon %s, %s/%s, %d processors. The pipeline is scripted; calls are over the loopback device, by WebRTC unless it says otherwise.\n\n",
		version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	r := &results{}
	if err := b.latencies(ctx, r); err != nil {
		return err
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if err := printEvents(ctx, os.Stdout, b.Time/8); err != nil {
		return err
	}
	if err := printMemory(ctx, os.Stdout, b.Time/8); err != nil {
		return err
	}
	if b.Sessions > 0 {
		return printLoad(ctx, os.Stdout, b.Sessions, b.Time)
	}
	return nil
}

// latencies measures everything that is a time, in one process with the server.
func (b *bench) latencies(ctx context.Context, r *results) (err error) {
	echo, err := echoLatency(ctx, b.Time/10)
	if err != nil {
		return err
	}
	r.reference = echo
	s, err := startServer(benchScript)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, measure := range []func(context.Context, *benchServer, *results, time.Duration) error{voiceTurns, requests, socketRequests, bargeIns} {
		if err := measure(ctx, s, r, b.Time/4); err != nil {
			return err
		}
	}
	return nil
}

// benchScript answers with one character, which is heard at once, but to a request for many words.
const benchScript = `
model:
  replies:
    - when: {regexp: "say [0-9]+ words"}
      say: ` + benchLong + `
    - say: y
`

// benchLong is a reply of some 40 s.
const benchLong = `"` + `On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` + `"`

// benchServer is a server in this process.
type benchServer struct {
	url      string
	server   *server.Server
	http     *http.Server
	pipeline *pipeline.Pipeline
	steps    *stepLog
}

func startServer(script string) (*benchServer, error) {
	parsed, err := scripted.Parse("bench", []byte(script))
	if err != nil {
		return nil, err
	}
	b := &benchServer{pipeline: scripted.New(scripted.Options{Script: parsed}), steps: &stepLog{}}
	b.server, err = server.New(server.Config{Pipeline: b.pipeline, Loopback: true, Trace: b.steps})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, b.server.Close(context.Background()))
	}
	b.url = "http://" + listener.Addr().String()
	b.http = &http.Server{Handler: b.server, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.http.Serve(listener) }() // ends with close
	return b, nil
}

func (b *benchServer) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	return errors.Join(b.server.Close(ctx), b.http.Close(), b.pipeline.Close())
}

// results are the rows of the table, in order.
type results struct {
	rows      []row
	reference []time.Duration
}

type row struct {
	what   string
	values []time.Duration
	goal   string
}

func (r *results) add(what, goal string, values []time.Duration) {
	r.rows = append(r.rows, row{what, values, goal})
}

// quantile is the value below which the share q (0 to 1) of the values lies; the values must not be empty.
func quantile(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// print writes the table. A ratio is against the reference, the first row.
func (r *results) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tp50\tp95\tgoal\tx reference\tn\t")
	reference := quantile(r.reference, 0.5)
	fmt.Fprintf(t, "reference: a packet through bare pion\t%s\t%s\t\t1\t%d\t\n", ms(reference), ms(quantile(r.reference, 0.95)), len(r.reference))
	for _, row := range r.rows {
		if len(row.values) == 0 {
			fmt.Fprintf(t, "%s\tnone\t\t%s\t\t0\t\n", row.what, row.goal)
			continue
		}
		p50 := quantile(row.values, 0.5)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t%d\t\n", row.what, ms(p50), ms(quantile(row.values, 0.95)), row.goal,
			float64(p50)/float64(reference), len(row.values))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
