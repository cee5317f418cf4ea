package storage

// The runs of the tools that work in the background.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/runs/runsapi"
	"github.com/antiphon-rt/antiphon/internal/runs/toolrun"
	"github.com/antiphon-rt/antiphon/server"
)

type (
	// Worker does the runs of one tool, in steps.
	Worker = runs.Worker
	// Turn is one attempt at a run, as its Worker sees it.
	Turn = runs.Turn
	// Question is what a Worker asks the user.
	Question = runs.Question
	// Answer is the user's answer to a Question.
	Answer = runs.Answer
	// Failure is an error that says how a run fails.
	Failure = runs.Failure
)

// openRuns begins to work on the runs of the background tools and of the workers, if there are any.
func (s *Storage) openRuns(ctx context.Context, o Options) (err error) {
	if len(o.Background)+len(o.Workers) == 0 {
		return nil
	}
	if !o.lasting() {
		s.logger.Warn("runs are in memory, and the end of this process ends them: name a folder or a NATS server for them")
	}
	workers := slices.Clone(o.Workers)
	for i := range o.Background {
		t := &o.Background[i]
		workers = append(workers, toolrun.Worker(&t.ServerTool, toolrun.Background{Approval: t.Approval, Repeatable: t.Repeatable}))
	}
	if s.runs, err = runs.New(ctx, runs.Config{Store: s.store, Workers: workers, Trace: trace(s.steps, "run", run.Table), Logger: s.logger}); err != nil {
		return fmt.Errorf("the runs: %w", err)
	}
	for i := range o.Background {
		s.Tools = append(s.Tools, toolrun.Offer(s.runs, o.Background[i].Tool, s.logger))
	}
	s.Stored.Runs = runsapi.New(s.runs, s.logger)
	return nil
}

// EndStreams ends the streams of events of runs, and those that begin later at once. Their clients connect again. An HTTP server waits for its requests when it
// stops: so this comes before.
func (s *Storage) EndStreams() {
	if s.runs != nil {
		s.runs.EndStreams()
	}
}

// Drain is Server.Drain for a server whose background tools work on runs: these come to their end meanwhile, or go on at the next start.
func (s *Storage) Drain(ctx context.Context, of *server.Server, within time.Duration) error {
	ended := make(chan error, 1)
	go func() {
		if s.runs == nil {
			ended <- nil
			return
		}
		wait, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		ended <- s.runs.Close(wait)
	}()
	return errors.Join(of.Drain(ctx, within), <-ended)
}
