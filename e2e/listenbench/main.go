package main

// The flags, the run, and the tables.

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
)

// options are the flags.
type options struct {
	models  string
	silero  string
	letters string
	draws   int
	fit     bool
	verbose bool
}

func main() { command.Main("listenbench", parse, run) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("listenbench", flag.ContinueOnError)
	f.StringVar(&o.models, "models", ".cache/models", "folder of the models")
	f.StringVar(&o.silero, "silero", "", "the Python with Silero's detector, to measure it, too; empty means not to")
	f.StringVar(&o.letters, "prompts", "n-z", "initial letters of the prompts")
	f.IntVar(&o.draws, "draws", 2, "how many lengths each pause has, one in each run through the prompts")
	f.BoolVar(&o.fit, "fit", false, "print the weights that fit the turns best")
	f.BoolVar(&o.verbose, "v", false, "print each false cut and each late end")
	err = f.Parse(args)
	return o, err
}

// run hears all turns and prints the tables.
func run(ctx context.Context, o options) error {
	if len(o.letters) != 3 || o.letters[1] != '-' || o.letters[0] > o.letters[2] {
		return fmt.Errorf("-prompts %q: want two letters in their order, such as n-z", o.letters)
	}
	all, err := listen(ctx, o)
	if err != nil {
		return err
	}
	found := make([][]estimate, len(all))
	for i := range all {
		found[i] = all[i].estimates(endofturn.New("en"), nil)
	}
	fmt.Printf("%d turns\n\n", len(all))
	report(all, found, o.verbose)
	if o.silero != "" {
		if err := reportSilero(ctx, o.silero, all); err != nil {
			return err
		}
	}
	if o.fit {
		fit(all, found, false)
	}
	j, err := newJudge(o.models)
	if err != nil || j == nil {
		return err
	}
	defer func() { _ = j.engine.Close() }() // nothing is lost
	if found, err = judged(all, j); err != nil {
		return err
	}
	report(all, found, o.verbose)
	fmt.Println("\nSmart Turn alone:")
	curve(all, found, byHeard)
	if o.fit {
		fit(all, found, true)
	}
	return nil
}

// listen returns what is heard of all turns.
func listen(ctx context.Context, o options) (all []heard, err error) {
	list, err := turns(o.letters[0], o.letters[2], o.draws)
	if err != nil {
		return nil, err
	}
	e, err := sherpa.NewEngine(filepath.Join(o.models, "sherpa-onnx-linux-amd64"), filepath.Join(o.models, "moonshine-tiny-en"), 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }() // nothing is lost
	for i, t := range list {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h, err := hear(ctx, e, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		all = append(all, h)
		if i%50 == 49 {
			fmt.Fprintf(os.Stderr, "%d of %d turns\n", i+1, len(list))
		}
	}
	return all, nil
}
