// Package storage gives a server what outlives its process, or what it shares with other servers: idempotency keys, client secrets, the journals of calls, and runs.
//
// A program opens a Storage, gives what it has to server.Config, and calls Publish with the server if there are several. A program that imports this package contains NATS;
// one that imports package server alone does not.
package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/logstore"
	"github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The errors of Open that callers tell apart. They come wrapped.
var (
	// ErrNoFolder: without Dir and NATS, there is no folder for temporary files.
	ErrNoFolder = store.ErrNoFolder
	// ErrInUse: another process uses Dir.
	ErrInUse = store.ErrInUse
	// ErrNewer: a newer version of this module has written the data.
	ErrNewer = store.ErrNewer
	// ErrUnavailable: the NATS server does not answer, or the disk cannot be written.
	ErrUnavailable = store.ErrUnavailable
)

// Options say where everything is kept. The zero value keeps it in memory: then the end of the process loses it, and calls have no journal.
type Options struct {
	// Dir is a folder for this server alone. It is created with mode 0700; if it is there, others must not be able to open it.
	Dir string
	// NATS is the URL of a NATS server with JetStream, such as nats://host:4222, which several servers may share; several URLs are separated by commas. It excludes Dir.
	NATS string
	// Replicas is how many servers of a NATS cluster keep each value, 1 to 5; 0 takes 1. It needs NATS.
	Replicas int
	// NodeURL is where the other servers on NATS reach the HTTP of this one, such as http://10.0.0.1:8080. They then pass requests about its calls on to it. It needs NATS; "" for
	// a server that passes nothing on.
	NodeURL string
	// NodeName is the name of this server in the logs of the others; "" takes the host's name.
	NodeName string
	// LongestSession is how long one session of a call may last. An entry of a journal stays an hour longer, and 2 h at least.
	LongestSession time.Duration
	// Background are tools whose calls begin runs, which go on when the call has ended.
	Background []Tool
	// Workers do the runs of further tools, which clients begin over HTTP. A Worker asks the user what it needs to know; a tool of Background asks for an approval at most.
	Workers []Worker
	// Trace gets every step of the machines that are stored, as server.Watch.Trace gets those of calls, of which it may be the writer; nil for none.
	Trace io.Writer
	// Logger gets what an operator should know; nil discards it.
	Logger *slog.Logger
}

// Tool is a tool that works in the background.
type Tool struct {
	pipeline.ServerTool
	// Approval: the user approves each run before the tool runs. Repeatable: a call whose process has ended before it was answered is sent again.
	Approval, Repeatable bool
}

// Storage is what a server keeps. It is safe for concurrent use. Its owner closes it after the server.
type Storage struct {
	// Stored belongs into server.Config. Tools are the background tools as the model calls them, for server.Config.Tools.
	Stored server.Stored
	Tools  []pipeline.ServerTool

	logger *slog.Logger
	store  *store.Store
	runs   *runs.Runner  // nil for none
	node   *cluster.Node // nil for none
	steps  *server.StepWriter
}

// Limits of everything that is kept, in bytes: on a disk or on a NATS server, and in memory. journalBytes is the part of all journals.
const (
	mostStored   = 1 << 30
	mostInMemory = 128 << 20
	journalBytes = 256 << 20
)

// leastJournal is how long the journal of a call stays that has not ended in order, at least.
const leastJournal = 2 * time.Hour

// Limits of a request with an idempotency key: a recording to transcribe with the other parts of its form, and the time to transcribe it.
const (
	longestBody    = 26 << 20
	longestRequest = 10 * time.Minute
)

// Open opens the storage. It fails with ErrNoFolder, ErrInUse, ErrNewer, ErrUnavailable, or an error for Options that contradict each other.
func Open(ctx context.Context, o Options) (*Storage, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.NodeURL != "" && o.NATS == "" {
		return nil, errors.New("storage: NodeURL needs NATS: the servers of a cluster find each other there")
	}
	cfg := store.Config{Dir: o.Dir, URL: o.NATS, Replicas: o.Replicas, MaxBytes: mostStored, Logger: o.Logger}
	if !o.lasting() {
		cfg.MaxBytes = mostInMemory
		o.Logger.Info("idempotency keys and their responses are in memory: a request that is tried again after this process has ended counts again. Give a folder (--data) or a NATS server (--nats) to keep them")
	}
	in, err := store.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	s := &Storage{store: in}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("storage: %w", err), s.Close(ctx))
	}
	return s, nil
}

// lasting reports whether values stay after the end of the process.
func (o *Options) lasting() bool { return o.Dir != "" || o.NATS != "" }

func (s *Storage) open(ctx context.Context, o Options) (err error) {
	s.logger = o.Logger
	if o.Trace != nil {
		s.steps = server.NewStepWriter(o.Trace, o.Logger)
	}
	if err := s.openKeys(ctx); err != nil {
		return fmt.Errorf("the idempotency keys: %w", err)
	}
	if o.NodeURL != "" {
		host, _ := os.Hostname() // a server without a name is known by its URL
		s.node, err = cluster.Join(ctx, cluster.Config{Store: s.store, URL: o.NodeURL, Name: cmp.Or(o.NodeName, host), Logger: o.Logger})
		if err != nil {
			return err
		}
		s.Stored.Cluster = s.node
	}
	if o.lasting() {
		if s.Stored.SecretBucket, err = cluster.OpenSecrets(ctx, s.store, o.Logger); err != nil {
			return err
		}
		if err := s.openJournal(ctx, o.LongestSession); err != nil {
			return fmt.Errorf("the journal of the calls: %w", err)
		}
	}
	return s.openRuns(ctx, o)
}

// openKeys has requests with an idempotency key count once.
func (s *Storage) openKeys(ctx context.Context) error {
	handler, err := once.New(ctx, nil, once.Config{
		Store: s.store, Name: "serve", MaxBody: longestBody, Timeout: longestRequest, Safe: repeatable, Announces: beginsRun, Retry: httpapi.TryAgain,
		Headers: httpapi.ReplayedHeaders(), Refuse: httpapi.Refuse, Logger: s.logger,
	})
	if err == nil {
		handler.Trace(trace(s.steps, "idempotency", idempotency.Table))
		s.Stored.Once = handler
	}
	return err
}

// repeatable reports whether a request may be sent again if its process has ended without a response. All that calls, transcripts and speech do ends with the process.
// A client secret that nobody has got expires. A run takes one reply to each question, and one cancellation.
func repeatable(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, "/v1/realtime/") || strings.HasPrefix(path, "/v1/audio/") || strings.HasPrefix(path, "/v1/runs/")
}

// beginsRun reports whether a request begins a run. Its handler says when it has checked the request and begins.
func beginsRun(r *http.Request) bool { return r.URL.Path == "/v1/runs" }

// openJournal has calls written to a log, from which another process goes on with them.
func (s *Storage) openJournal(ctx context.Context, longest time.Duration) error {
	log, err := logstore.Open(ctx, s.store, max(leastJournal, longest+time.Hour), journalBytes)
	if err != nil {
		return err
	}
	cfg := journal.Config{Log: log, Trace: s.traceJournals(), Logger: s.logger}
	if s.node != nil {
		cfg.Node = s.node.ID()
	}
	s.Stored.Journal = journal.New(cfg)
	log.OnLoss(s.Stored.Journal.WriteAgain)
	return nil
}

// Publish has the other servers of the cluster know this one, until Close. Without Options.NodeURL it does nothing.
func (s *Storage) Publish(ctx context.Context, of *server.Server) error {
	if s.node == nil {
		return nil
	}
	return s.node.Publish(ctx, of.Standing, of.OthersUsed)
}

// Close ends the runs that are worked on, leaves the cluster, and closes the store. Runs that have not ended when ctx is done go on at the next start. Beyond that, Close takes 30 s
// at most. The server is closed before. A nil
// Storage keeps nothing.
func (s *Storage) Close(ctx context.Context) (err error) {
	if s == nil {
		return nil
	}
	if s.runs != nil {
		err = s.runs.Close(ctx)
	}
	if s.node != nil {
		err = errors.Join(err, s.node.Close())
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.steps != nil {
		err = errors.Join(err, s.steps.Close(ctx))
	}
	return err
}
