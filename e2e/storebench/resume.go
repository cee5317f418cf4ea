package main

// This file measures how long it takes to go on with what another process has left: runs and calls.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/logstore"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of the rows: a run or a call is made anew for each time.
const (
	maxResumes   = 50
	maxTakeovers = 200
	callItems    = 100
)

// resumes begins n runs, ends their process in the middle of the work without a chance to write, and starts the next one.
func resumes(ctx context.Context, s *store.Store, n int) (times []time.Duration, err error) {
	open := func(work func(context.Context, *runs.Turn) (json.RawMessage, error)) (*runs.Runner, error) {
		return runs.New(ctx, runs.Config{Store: s, Name: "resumed", MaxBytes: 16 << 20, Workers: []runs.Worker{{Tool: "left", Work: work}}})
	}
	now, cancel := context.WithCancel(ctx)
	cancel()
	for range n {
		works := make(chan struct{}, 1)
		first, err := open(func(ctx context.Context, _ *runs.Turn) (json.RawMessage, error) {
			works <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		if err != nil {
			return nil, err
		}
		r, err := first.Start(ctx, runs.Request{Principal: "p", Tool: "left"})
		if err == nil {
			<-works
		}
		if err = errors.Join(err, first.Close(now)); err != nil {
			return nil, err
		}
		begin := time.Now()
		next, err := open(func(context.Context, *runs.Turn) (json.RawMessage, error) { return json.RawMessage("null"), nil })
		if err != nil {
			return nil, err
		}
		err = next.Follow(ctx, "p", r.ID, 0, func(runs.Message) error { return nil }, nil)
		times = append(times, time.Since(begin))
		stop, cancel := context.WithTimeout(ctx, runsStop)
		err = errors.Join(err, next.Close(stop))
		cancel()
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// takeovers writes the journals of n calls, and takes each over: it reads the conversation and writes the claim.
func takeovers(ctx context.Context, s *store.Store, n int) (times []time.Duration, err error) {
	log, err := logstore.Open(ctx, s, time.Hour, 64<<20)
	if err != nil {
		return nil, err
	}
	book := journal.New(journal.Config{Log: log, Limits: journal.Limits{Patience: time.Minute}})
	state := journal.State{Call: journal.Call{ID: "call", Principal: "p"}, Client: journal.Client{Extended: true}}
	for i := range uint64(callItems) {
		state.Items = append(state.Items, journal.Item{Num: i + 1, After: i, Item: wire.Item{
			ID: fmt.Sprint("item_", i), Type: "message", Content: []wire.Content{{Type: "input_text", Text: "twelve words that a user may well say to an agent on a call"}},
		}})
	}
	for i := range n {
		token := fmt.Sprint("token ", i)
		w := book.Begin(token, nil)
		stored := make(chan struct{}, 1)
		one := state
		one.Last = callItems
		w.Record(journal.Record{State: &one, Events: []journal.Event{{ID: "event", Type: "x", Text: []byte("{}"), Number: 1}}})
		w.Start(journal.Watch{Fenced: func() {}, Committed: func(number uint64) {
			if number == 1 {
				stored <- struct{}{}
			}
		}})
		<-stored
		w.Close()
		begin := time.Now()
		_, next, err := book.TakeOver(ctx, token, nil, func(*journal.State) bool { return true })
		times = append(times, time.Since(begin))
		if err != nil {
			return nil, err
		}
		next.Record(journal.Record{Ended: true})
		next.Start(journal.Watch{Fenced: func() {}, Committed: func(uint64) {}})
		next.Close()
	}
	return times, nil
}
