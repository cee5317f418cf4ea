package main

// This file has the flags of the command and its engines.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// options are the flags.
type options struct {
	engines    []string
	first, end byte   // initial letters of the prompts, both included
	n, rounds  int    // how many prompts, and how often each clause is spoken
	users      int    // how many users speak at a time at most; 0 measures none
	models     string // folder of the models
}

// engine is a recogniser and a synthesizer that can be measured. The recogniser has so many processes at most, the synthesizer has one.
type engine struct {
	name       string
	recogniser func(models string, processes int) (pipeline.Stage[pipeline.Transcriber], error)
	voice      func(models string) (pipeline.Stage[pipeline.Synthesizer], error)
}

var engines = []engine{
	{
		"sherpa",
		func(models string, processes int) (pipeline.Stage[pipeline.Transcriber], error) {
			return sherpa.Recogniser(sherpa.Config{Models: models, Processes: processes})
		},
		func(models string) (pipeline.Stage[pipeline.Synthesizer], error) {
			return sherpa.Synthesizer(sherpa.Config{Models: models, Processes: 1})
		},
	},
	{
		"flite", nil,
		func(string) (pipeline.Stage[pipeline.Synthesizer], error) {
			return embedded.Synthesizer(embedded.Options{}), nil
		},
	},
}

func main() { command.Main("enginebench", parse, run) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("enginebench", flag.ContinueOnError)
	only := f.String("engines", "sherpa,flite", "engines to measure, with commas between")
	letters := f.String("prompts", "a-m", "initial letters of the prompts")
	f.IntVar(&o.n, "n", 30, "how many prompts, spread over the letters; 0 means all")
	f.IntVar(&o.rounds, "rounds", 5, "how often each clause is spoken")
	f.IntVar(&o.users, "users", 8, "how many users speak at a time at most, each to a process of the engine; 0 means that this is not measured")
	f.StringVar(&o.models, "models", "", "folder of the models; empty means that of antiphon models")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.first, o.end, err = span(*letters); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(*only, ",") {
		if !slices.ContainsFunc(engines, func(e engine) bool { return e.name == name }) {
			return o, fmt.Errorf("-engines: no engine is called %q: want sherpa or flite", name)
		}
		o.engines = append(o.engines, name)
	}
	if o.n < 0 || o.rounds < 1 || o.rounds > 1000 || o.users < 0 || o.users > 64 {
		return o, errors.New("want a positive -n, -rounds from 1 to 1000, and -users from 0 to 64")
	}
	return o, nil
}

// span returns the letters of a text such as "a-m".
func span(text string) (first, end byte, err error) {
	if len(text) != 3 || text[1] != '-' || text[0] < 'a' || text[2] > 'z' || text[0] > text[2] {
		return 0, 0, fmt.Errorf("-prompts %q: want two letters in their order, such as a-m", text)
	}
	return text[0], text[2], nil
}

// run measures all engines and prints the tables.
func run(ctx context.Context, o options) error {
	prompts, err := choose(o)
	if err != nil {
		return err
	}
	var length time.Duration
	words := 0
	for _, p := range prompts {
		length += p.duration()
		words += p.words()
	}
	fmt.Fprintf(os.Stderr, "%d prompts, %d words, %v: about %v for each engine\n", len(prompts), words, length.Round(time.Second), length.Round(time.Second))
	fmt.Println(recognitionHead)
	for _, e := range engines {
		if slices.Contains(o.engines, e.name) && e.recogniser != nil {
			if err := measureRecogniser(ctx, e, o, prompts); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	if o.users > 0 {
		fmt.Println("\n" + crowdHead)
	}
	for _, e := range engines {
		if slices.Contains(o.engines, e.name) && e.recogniser != nil && o.users > 0 {
			if err := measureCrowd(ctx, e, o, prompts); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	fmt.Println("\n" + voiceHead)
	for _, e := range engines {
		if slices.Contains(o.engines, e.name) {
			if err := measureVoice(ctx, e, o); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	return nil
}

// title returns what a row is about: the engine, and the name of its component if that is another.
func title(e engine, c pipeline.Component) string {
	if c.Name == e.name {
		return e.name
	}
	return e.name + ": " + c.Name
}

// ready loads a stage and returns how long that took.
func ready[S any](ctx context.Context, s pipeline.Stage[S]) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	began := time.Now()
	if s.Warm != nil {
		if err := s.Warm(ctx); err != nil {
			return 0, err
		}
	}
	if c := s.Component(); c.State != pipeline.StateReady {
		return 0, fmt.Errorf("%s: %s: %s %s", c.Name, c.State, c.Detail, c.Install)
	}
	return time.Since(began), nil
}
