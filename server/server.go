package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/signal"
	"github.com/antiphon-rt/antiphon/wire"
)

// Version is this module's version, as the Antiphon-Version header has it.
const Version = "0.1.0-dev"

// Config says what a Server serves. Pipeline is required; the rest may be zero.
type Config struct {
	// Pipeline answers. The Server does not close it.
	Pipeline *pipeline.Pipeline
	// Logger gets one line for every lifecycle transition at info, and every transition at debug. Transcripts and
	// audio are never logged. nil discards.
	Logger *slog.Logger
	// Page serves what no API path takes, such as the Talk page; nil answers 404.
	Page http.Handler

	// Instructions, Model and Voice are a session's until its client sets its own.
	Instructions, Model, Voice string

	// UDPPort carries the audio of all calls on one port; 0 gives each call ports of its own.
	UDPPort int
	// Loopback offers the loopback addresses too: for clients on the same machine.
	Loopback bool
	// Keys are the API keys that clients show; nil asks for none.
	Keys signal.Keys
	// Secrets say what the client secrets allow that the holder of a key makes.
	Secrets signal.SecretRules
	// Rates bound what each principal, who has one or more of the keys, uses in a minute.
	Rates signal.Rates
	// Origins are the pages that may call beside the server's own; "*" is every page.
	Origins []string
	// MaxSessions bounds the calls at a time; 0 takes 200.
	MaxSessions int
	// MaxMessage is the largest event of a client over a WebSocket, in bytes; 0 takes 1 MiB.
	MaxMessage int64
	// EventsPerSecond bounds the events of one connection, see signal.Config; 0 takes 500.
	EventsPerSecond int
	// Grace is how long a caller whose network is gone may take to come back before the call ends; 0 takes 20 s. Keep is the same
	// for a caller that knows our extensions, who may come back over another connection; 0 takes 60 s.
	Grace, Keep time.Duration

	// CheckInvariants evaluates what is proven of the machines in every session, after every event; what does not hold
	// is logged as an error.
	CheckInvariants bool

	// Record gets every event, Trace every transition of the machines, one JSON object a line; nil for none. Writes
	// are serialised. Record holds what was said: keep it safe.
	Record, Trace io.Writer
}

// Server is an http.Handler that serves calls. It is safe for concurrent use. Close it.
type Server struct {
	mux    *http.ServeMux
	engine *rtc.Engine
	calls  *signal.Handler
	cfg    Config
}

// New makes a Server. It opens the UDP port, if Config names one, and nothing else: listening for HTTP is the caller's.
func New(cfg Config) (*Server, error) {
	if cfg.Pipeline == nil {
		return nil, errors.New("server: Config.Pipeline is nil: give it embedded.New or a pipeline of your own")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	engine, err := rtc.New(rtc.Config{UDPPort: cfg.UDPPort, Loopback: cfg.Loopback, Logger: cfg.Logger})
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	sc := signal.Config{
		Engine: engine, Pipeline: cfg.Pipeline, Settings: settings(cfg), Version: Version, Logger: cfg.Logger,
		Keys: cfg.Keys, Secrets: cfg.Secrets, Rates: cfg.Rates, Origins: cfg.Origins, Grace: cfg.Grace, Keep: cfg.Keep,
		MaxSessions: cfg.MaxSessions, MaxMessage: cfg.MaxMessage, EventsPerSecond: cfg.EventsPerSecond,
		CheckInvariants: cfg.CheckInvariants,
	}
	if cfg.Record != nil {
		sc.Record = newRecorder(cfg.Record, cfg.Logger).event
	}
	if cfg.Trace != nil {
		sc.Trace = newRecorder(cfg.Trace, cfg.Logger).step
	}
	s := &Server{mux: http.NewServeMux(), engine: engine, calls: signal.New(sc), cfg: cfg}
	s.mux.Handle("/v1/", s.calls)
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.HandleFunc("GET /metrics", s.metrics)
	if cfg.Page != nil {
		s.mux.Handle("/", cfg.Page)
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends every call, joins everything the Server runs, and closes its ports. Calls that have not ended when ctx is
// done are cut off.
func (s *Server) Close(ctx context.Context) error {
	err := s.calls.Close(ctx)
	return errors.Join(err, s.engine.Close())
}

// Calls is how many calls there are now and how many there were in all.
func (s *Server) Calls() (now int, total uint64) { return s.calls.Calls() }

// settings is a session's first configuration.
func settings(cfg Config) wire.Session {
	set := wire.DefaultSession()
	set.Model, set.Instructions, set.Audio.Output.Voice = cfg.Model, cfg.Instructions, cfg.Voice
	if set.Model == "" {
		set.Model = cfg.Pipeline.Name
	}
	if set.Audio.Output.Voice == "" {
		set.Audio.Output.Voice = "alloy"
	}
	return set
}

// ready says whether the pipeline can answer: a component that is missing does not count, the page says what that
// means; one that loads or has failed does.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	for _, c := range s.cfg.Pipeline.Components() {
		if c.State == pipeline.StateLoading || c.State == pipeline.StateFailed {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintf(w, "%s %s: %s %s\n", c.Stage, c.Name, c.State, c.Detail)
			return
		}
	}
	_, _ = io.WriteString(w, "ready\n")
}

// metrics is the Prometheus text format, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	now, total := s.calls.Calls()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = fmt.Fprintf(w, "# HELP antiphon_sessions Calls at this moment.\n# TYPE antiphon_sessions gauge\nantiphon_sessions %d\n"+
		"# HELP antiphon_sessions_total Calls since the start.\n# TYPE antiphon_sessions_total counter\nantiphon_sessions_total %d\n", now, total)
}
