package storage

// The steps of the machines that are stored, as lines of a trace.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	calls "github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/server"
)

// trace returns what writes the steps of the named machine; nil without a trace.
func trace[S, E, F machine.Named](to *server.StepWriter, name string, table machine.Table[S, E, F]) func(id string, e machine.Edge[S, E, F], found, stored uint64) {
	if to == nil {
		return nil
	}
	return func(id string, e machine.Edge[S, E, F], found, stored uint64) {
		step := coord.Step{Machine: name, From: e.From, Event: e.Event, To: e.To, Why: "no row"}
		if e.Row >= 0 {
			step.Action, step.Why = table[e.Row].Action, table[e.Row].Why
		}
		for _, f := range e.Effects {
			step.Effects = append(step.Effects, f)
		}
		to.Write(id, step, found, stored)
	}
}

// traceJournals returns what writes the steps of the journals; nil without a trace. The name of an owner of a call is the name of the call's list and the epoch.
func (s *Storage) traceJournals() func(list string, epoch uint32, e journal.Edge) {
	write := trace(s.steps, "journal", calls.Table)
	if write == nil {
		return nil
	}
	return func(list string, epoch uint32, e journal.Edge) { write(fmt.Sprintf("%s.%d", list, epoch), e, 0, 0) }
}
