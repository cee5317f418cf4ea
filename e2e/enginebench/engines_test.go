package enginebench

// This file has the flags of the benchmarks, and loads the engines.

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// models has the models that scripts/setup.sh fetches.
const models = "../../.cache/models"

var (
	letters = flag.String("prompts", "a-m", "initial letters of the prompts")
	count   = flag.Int("sentences", 30, "how many prompts, spread over the letters; 0 means all")
	rounds  = flag.Int("rounds", 5, "how often each clause is spoken")
	most    = flag.Int("users", 8, "how many users speak at a time at most, each to a process of the engine")
)

// prompts returns the prompts that the flags ask for.
func prompts(t testing.TB) []human.Sentence {
	t.Helper()
	l := *letters
	if len(l) != 3 || l[1] != '-' || l[0] > l[2] {
		t.Fatalf("-prompts %q: want two letters in their order, such as a-m", l)
	}
	all, err := human.Prompts(l[0], l[2])
	if err != nil {
		t.Fatal(err)
	}
	return human.Sentences(all, *count)
}

// recogniser loads the recogniser with so many processes at most. It ends with the test.
func recogniser(t testing.TB, processes int) (r pipeline.Transcriber, start time.Duration) {
	t.Helper()
	s, err := sherpa.Recogniser(sherpa.Config{Models: models, Processes: processes})
	if err != nil {
		t.Fatal(err)
	}
	return s.Impl, load(t, s)
}

// load loads a stage, which ends with the test, and returns how long that took.
func load[S any](t testing.TB, s pipeline.Stage[S]) time.Duration {
	t.Helper()
	if s.Close != nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	began := time.Now()
	if s.Warm != nil {
		if err := s.Warm(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if c := s.Component(); c.State != pipeline.StateReady {
		t.Fatalf("%s: %s: %s %s", c.Name, c.State, c.Detail, c.Install)
	}
	return time.Since(began)
}
