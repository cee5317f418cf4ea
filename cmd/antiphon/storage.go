package main

// This file has the flags of the store, which `antiphon serve` and `antiphon once` share, and opens it.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	idempotent "github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/server"
)

// storage has the flags that say where the store is.
type storage struct {
	Data     string `type:"path" placeholder:"DIR" help:"Folder of what stays after the end of this process: idempotency keys and their responses, and the runs of serve. Without it and without --nats they are in memory, and the end of this process loses them."`
	NATS     string `name:"nats" placeholder:"URL" help:"A NATS server with JetStream that keeps them in place of a folder, such as nats://host:4222. Several processes of this kind may share it."`
	Replicas int    `name:"nats-replicas" default:"1" placeholder:"N" help:"With --nats: how many servers of a NATS cluster keep each value, 1 to 5."`
}

// check returns an error for flags that contradict each other.
func (s *storage) check() error {
	switch {
	case s.Data != "" && s.NATS != "":
		return errors.New("--data and --nats: name one of them")
	case s.Replicas < 0 || s.Replicas > 5 || s.Replicas > 1 && s.NATS == "":
		return errors.New("--nats-replicas: want 1 to 5, and --nats, too")
	}
	return nil
}

// lasting reports whether the values stay after the end of the process.
func (s *storage) lasting() bool { return s.Data != "" || s.NATS != "" }

// open opens the store. most is its limit in bytes. The caller closes it.
func (s *storage) open(ctx context.Context, most int64, logger *slog.Logger) (*store.Store, error) {
	cfg := store.Config{Dir: s.Data, URL: s.NATS, MaxBytes: most, Logger: logger}
	if s.NATS != "" {
		cfg.Replicas = s.Replicas
	}
	opened, err := store.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("--data, --nats: %w", err)
	}
	return opened, nil
}

// Limits of the store of `antiphon serve`, in bytes: on a disk or on a NATS server, and in memory.
const (
	serveStore  = 1 << 30
	serveMemory = 128 << 20
)

// Limits of a request with an idempotency key: a recording of package speechapi with the other parts of its form, and the time to transcribe it.
const (
	longestBody    = 26 << 20
	longestRequest = 10 * time.Minute
)

// openStore opens the store of the server, and writes into cfg how requests with an idempotency key count once. The caller closes the store.
func (c *serve) openStore(ctx context.Context, cfg *server.Config, logger *slog.Logger) (*store.Store, error) {
	if err := errors.Join(c.storage.check(), c.checkNode()); err != nil {
		return nil, err
	}
	most := int64(serveStore)
	if !c.lasting() {
		most = serveMemory
		logger.Info("idempotency keys and their responses are in memory: a request that is tried again after this process has ended counts again. --data names a folder for them")
	}
	opened, err := c.storage.open(ctx, most, logger)
	if err != nil {
		return nil, err
	}
	handler, err := idempotent.New(ctx, nil, idempotent.Config{
		Store: opened, Name: "serve", MaxBody: longestBody, Timeout: longestRequest, Safe: repeatable, Announces: beginsRun, Retry: signal.TryAgain, Headers: signal.ReplayedHeaders(), Refuse: signal.Refuse, Logger: logger,
	})
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	handler.Trace(c.ofKeys())
	cfg.Once = handler
	if c.lasting() {
		if cfg.SecretBucket, err = cluster.OpenSecrets(ctx, opened); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	return opened, nil
}

// repeatable reports whether a request may be sent again if its process has ended without a response. All that calls, transcripts and speech do ends with the process.
// A client secret that nobody has got expires. A run takes one reply to each question, and one cancellation.
func repeatable(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, "/v1/realtime/") || strings.HasPrefix(path, "/v1/audio/") || strings.HasPrefix(path, "/v1/runs/")
}

// beginsRun reports whether a request begins a run. Its handler says when it has checked the request and begins.
func beginsRun(r *http.Request) bool { return r.URL.Path == "/v1/runs" }
