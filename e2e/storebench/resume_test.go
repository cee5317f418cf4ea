package storebench

// This file measures how long it takes to go on with what another process has left: runs and calls.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
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

// resumes begins runs, ends their process in the middle of the work without a chance to write, and measures how long the next one takes to the
// message of the end.
func resumes(b *testing.B, s *store.Store) {
	open := func(work func(context.Context, *runs.Turn) (json.RawMessage, error)) *runs.Runner {
		r, err := runs.New(b.Context(), runs.Config{Store: s, Name: "resumed", MaxBytes: 16 << 20, Workers: []runs.Worker{{Tool: "left", Work: work}}})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	now, cancel := context.WithCancel(b.Context())
	cancel()
	var times []time.Duration
	for range min(b.N, maxResumes) {
		works := make(chan struct{}, 1)
		first := open(func(ctx context.Context, _ *runs.Turn) (json.RawMessage, error) {
			works <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		r, err := first.Start(b.Context(), runs.Request{Principal: "p", Tool: "left"})
		if err == nil {
			<-works
		}
		if err = errors.Join(err, first.Close(now)); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		next := open(func(context.Context, *runs.Turn) (json.RawMessage, error) { return json.RawMessage("null"), nil })
		err = next.Follow(b.Context(), "p", r.ID, 0, func(runs.Message) error { return nil }, nil)
		times = append(times, time.Since(begin))
		stop, cancel := context.WithTimeout(b.Context(), runsStop)
		err = errors.Join(err, next.Close(stop))
		cancel()
		if err != nil {
			b.Fatal(err)
		}
	}
	report(b, times)
}

// takeovers writes the journals of calls, and takes each over: it reads the conversation and writes the claim.
func takeovers(b *testing.B, s *store.Store) {
	log, err := logstore.Open(b.Context(), s, time.Hour, 64<<20)
	if err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	book := journal.New(journal.Config{Log: log, Limits: journal.Limits{Patience: time.Minute}})
	state := journal.State{Call: journal.Call{ID: "call", Principal: "p"}, Client: journal.Client{Extended: true}}
	for i := range uint64(callItems) {
		state.Items = append(state.Items, journal.Item{Num: i + 1, After: i, Item: wire.Item{
			ID: fmt.Sprint("item_", i), Type: "message", Content: []wire.Content{{Type: "input_text", Text: "twelve words that a user may well say to an agent on a call"}},
		}})
	}
	for range min(b.N, maxTakeovers) {
		token := fmt.Sprint("token ", used.Add(1))
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
		_, next, err := book.TakeOver(b.Context(), token, nil, func(*journal.State) bool { return true })
		times = append(times, time.Since(begin))
		if err != nil {
			b.Fatal(err)
		}
		next.Record(journal.Record{Ended: true})
		next.Start(journal.Watch{Fenced: func() {}, Committed: func(uint64) {}})
		next.Close()
	}
	report(b, times)
}
