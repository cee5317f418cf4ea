package bench

// This file runs all measurements, and starts the server in this process that they need.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// MaxSessions is the largest number of calls at a time.
const MaxSessions = 1000

// Options say what to measure.
type Options struct {
	Version  string        // version of the program, for the headline
	Time     time.Duration // about how long to measure in all
	Sessions int           // measure the capacity instead, with up to this many calls at a time; 0 for everything else
	Soak     bool          // hold all Sessions calls for the whole Time
	Profile  string        // write profiles of the server under load into this directory; "" for none
}

// Run measures and writes a report to w. It starts servers of its own, one of them as a child process of this program.
func Run(ctx context.Context, w io.Writer, o Options) error {
	fmt.Fprintf(w, "Antiphon %s, %s/%s, %d processors. The pipeline is scripted; calls are over the loopback device, by WebRTC unless it says otherwise.\n\n",
		o.Version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if o.Sessions > 0 {
		return measureCapacity(ctx, w, o)
	}
	r := &results{}
	if err := measureLatencies(ctx, r, o.Time); err != nil {
		return err
	}
	if err := r.print(w); err != nil {
		return err
	}
	if err := printEvents(ctx, w, o.Time/8); err != nil {
		return err
	}
	return printMemory(ctx, w, o.Time/8)
}

// measureLatencies measures everything that is a latency. Clients and server share this process, so that all times are of one
// clock. It takes about the given time.
func measureLatencies(ctx context.Context, r *results, within time.Duration) (err error) {
	echo, err := echoLatency(ctx, within/10)
	if err != nil {
		return err
	}
	r.reference = echo
	s, err := startServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, measure := range []func(context.Context, *localServer, *results, time.Duration) error{measureTurns, measureRequests, measureSocketRequests, measureBargeIns} {
		if err := measure(ctx, s, r, within/4); err != nil {
			return err
		}
	}
	return nil
}

// script answers with one character, whose sound begins at once. It answers a request for many words with longAnswer.
const script = `
model:
  replies:
    - when: {regexp: "say [0-9]+ words"}
      say: ` + longAnswer + `
    - say: y
`

// longAnswer is a text that takes about 40 s to speak.
const longAnswer = `"` + `On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` +
	`On and on it goes, and nobody knows why it does not end. On and on it goes, and nobody knows why it does not end. ` + `"`

// Rates that no measurement reaches: a minute's and a second's.
const (
	anyNumber = 1 << 40
	anyRate   = 1 << 20
)

// localServer is a server in this process. Its close ends it.
type localServer struct {
	url      string
	server   *server.Server
	http     *http.Server
	pipeline *pipeline.Pipeline
	holds    *holdLog
}

func startServer() (*localServer, error) {
	parsed, err := scripted.Parse("bench", []byte(script))
	if err != nil {
		return nil, err
	}
	b := &localServer{pipeline: scripted.New(scripted.Options{Script: parsed}), holds: &holdLog{}}
	b.server, err = server.New(server.Config{
		Pipeline: b.pipeline, Loopback: true, Watch: server.Watch{Trace: b.holds},
		Access: server.Access{Rates: httpapi.Rates{RequestsPerMinute: anyNumber, TokensPerMinute: anyNumber}},
		Limits: httpapi.Limits{EventsPerSecond: anyRate},
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, b.server.Close(context.Background()))
	}
	b.url = "http://" + listener.Addr().String()
	b.http = &http.Server{Handler: b.server, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.http.Serve(listener) }() // returns when close is called
	return b, nil
}

// stopTimeout limits how long the calls may take to end when the server stops.
const stopTimeout = 10 * time.Second

func (b *localServer) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(b.server.Close(ctx), b.http.Close(), b.pipeline.Close())
}
