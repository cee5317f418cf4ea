package main

// This file has what `antiphon serve` keeps in its store beside idempotency keys: the runs of the tools that work in the background.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/logstore"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/runs/runsapi"
	"github.com/antiphon-rt/antiphon/internal/runs/toolrun"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// kept is the store of a server, with the runs in it and the cluster that shares it.
type kept struct {
	store *store.Store  // nil: this machine has no place for one
	runs  *runs.Runner  // nil for none
	node  *cluster.Node // nil for none
}

// openKept opens the store and the runs, and writes into cfg who answers requests for them. The caller closes them. file may be nil.
func (c *serve) openKept(ctx context.Context, file *config.File, cfg *server.Config, logger *slog.Logger) (*kept, error) {
	opened, err := c.openStore(ctx, cfg, logger)
	if errors.Is(err, store.ErrNoFolder) {
		return withoutStore(file, logger, err)
	}
	if err != nil {
		return nil, err
	}
	k := &kept{store: opened}
	err = c.join(ctx, k, cfg, logger)
	if err == nil && c.lasting() {
		cfg.Journal, err = c.openJournal(ctx, k, logger)
	}
	if err == nil && file != nil {
		k.runs, err = c.openRuns(ctx, file, opened, cfg, logger)
	}
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	if k.runs != nil {
		cfg.Runs = runsapi.New(k.runs, logger)
		context.AfterFunc(ctx, k.runs.EndStreams) // the HTTP server waits for its requests when it stops
	}
	return k, nil
}

// withoutStore returns what a server keeps that has no store because of cause: nothing. It fails if the configuration needs one.
func withoutStore(file *config.File, logger *slog.Logger, cause error) (*kept, error) {
	if file != nil {
		if tools, err := file.BackgroundTools(config.Env{Logger: logger}); err != nil || len(tools) > 0 {
			return nil, errors.Join(err, cause)
		}
	}
	logger.Warn("the server does not read the header Idempotency-Key", "err", cause)
	return &kept{}, nil
}

// openRuns returns the runs of the configuration's tools that work in the background, and gives these tools to the model; nil without such a tool.
func (c *serve) openRuns(ctx context.Context, file *config.File, in *store.Store, cfg *server.Config, logger *slog.Logger) (*runs.Runner, error) {
	tools, err := file.BackgroundTools(config.Env{Logger: logger})
	if err != nil || len(tools) == 0 {
		return nil, err
	}
	if !c.lasting() {
		logger.Warn("runs are in memory, and the end of this process ends them: --data names a folder for them")
	}
	workers := make([]runs.Worker, 0, len(tools))
	for i := range tools {
		workers = append(workers, toolrun.Worker(&tools[i].Tool, toolrun.Background{Approval: tools[i].Approval, Repeatable: tools[i].Repeatable}))
	}
	runner, err := runs.New(ctx, runs.Config{Store: in, Workers: workers, Trace: c.ofRuns(), Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("the runs: %w", err)
	}
	for _, t := range tools {
		cfg.Tools.Tools = append(cfg.Tools.Tools, toolrun.Offer(runner, t.Tool.Tool, logger))
	}
	return runner, nil
}

// openJournal returns the journal of the calls.
func (c *serve) openJournal(ctx context.Context, k *kept, logger *slog.Logger) (*journal.Book, error) {
	log, err := logstore.Open(ctx, k.store, max(journalKeep, c.SessionLength+time.Hour), journalBytes)
	if err != nil {
		return nil, fmt.Errorf("the journal of the calls: %w", err)
	}
	book := journal.New(journal.Config{Log: log, Trace: c.ofJournals(), Logger: logger, Node: k.name()})
	log.OnLoss(book.WriteAgain)
	return book, nil
}

// journalKeep is how long the journal of a call stays that has not ended in order, at least. journalBytes is the limit of all calls together.
const (
	journalKeep  = 2 * time.Hour
	journalBytes = 256 << 20
)

// Close ends the runs within stopTimeout, and closes the store. Runs that have not ended go on at the next start.
func (k *kept) Close() (err error) {
	if k.runs != nil {
		stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		err = k.runs.Close(stop)
	}
	if k.node != nil {
		err = errors.Join(err, k.node.Close())
	}
	if k.store != nil {
		err = errors.Join(err, k.store.Close())
	}
	return err
}

// draining is a server and what it keeps.
type draining struct {
	*server.Server
	kept *kept
}

// Drain lets the calls end at a pause and the runs that are worked on come to their end, at most for the time within.
func (d draining) Drain(ctx context.Context, within time.Duration) error {
	ended := make(chan error, 1)
	go func() {
		if d.kept.runs == nil {
			ended <- nil
			return
		}
		wait, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		ended <- d.kept.runs.Close(wait)
	}()
	return errors.Join(d.Server.Drain(ctx, within), <-ended)
}
