package main

// This file writes the steps of the machines that are in the store into the file of --trace: those of journals, runs and idempotency keys.

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	work "github.com/antiphon-rt/antiphon/internal/coord/run"
	calls "github.com/antiphon-rt/antiphon/internal/journal"
	idempotent "github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/server"
)

// openSteps begins to write the steps to out, if it is not nil. stop writes what waits.
func (c *serve) openSteps(out io.Writer, logger *slog.Logger) (stop func() error) {
	if out == nil {
		return func() error { return nil }
	}
	c.steps = server.NewStepWriter(out, logger)
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return c.steps.Close(ctx)
	}
}

// ofJournals returns what gets the steps of the journals; nil without a trace. The name of an owner of a call is the name of the call's list and the epoch.
func (c *serve) ofJournals() func(list string, epoch uint32, e calls.Edge) {
	if c.steps == nil {
		return nil
	}
	return func(list string, epoch uint32, e calls.Edge) {
		c.steps.Write(fmt.Sprintf("%s.%d", list, epoch), stepOf("journal", journal.Table, e), 0, 0)
	}
}

// ofRuns returns what gets the steps of the runs; nil without a trace.
func (c *serve) ofRuns() func(id string, e runs.Edge, found, stored uint64) {
	if c.steps == nil {
		return nil
	}
	return func(id string, e runs.Edge, found, stored uint64) {
		c.steps.Write(id, stepOf("run", work.Table, e), found, stored)
	}
}

// ofKeys returns what gets the steps of the idempotency keys; nil without a trace.
func (c *serve) ofKeys() func(key string, e idempotent.Edge, found, stored uint64) {
	if c.steps == nil {
		return nil
	}
	return func(key string, e idempotent.Edge, found, stored uint64) {
		c.steps.Write(key, stepOf("idempotency", idempotency.Table, e), found, stored)
	}
}

// stepOf returns a step of the named machine as a line of a trace has it.
func stepOf[S, E, F machine.Named](name string, table machine.Table[S, E, F], e machine.Edge[S, E, F]) coord.Step {
	out := coord.Step{Machine: name, From: e.From, Event: e.Event, To: e.To, Why: "no row"}
	if e.Row >= 0 {
		out.Action, out.Why = table[e.Row].Action, table[e.Row].Why
	}
	for _, f := range e.Effects {
		out.Effects = append(out.Effects, f)
	}
	return out
}
