package main

// This file has `antiphon doctor`: it tries the components of a pipeline.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

type doctor struct {
	Pipeline string `arg:"" optional:"" default:"embedded" placeholder:"embedded|scripted|FILE.yaml" help:"What to look at."`
}

// doctorTimeout limits how long the components may take to load and to be tried.
const doctorTimeout = time.Minute

// errNotWorking is returned when a component does not work. The table that was printed before says what to do.
var errNotWorking = errors.New("not everything works")

// Run tries the components of a pipeline and prints a table. It returns an error if one of them does not work.
func (d *doctor) Run(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	p, err := openPipeline(ctx, d.Pipeline, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return diagnose(os.Stdout, p.Name, examine(ctx, p))
}

// examine loads the components and returns their states. The components of the embedded pipeline must also speak a word and
// recognise it.
func examine(ctx context.Context, p *pipeline.Pipeline) []pipeline.Component {
	if p.Name == "embedded" {
		return embedded.Doctor(ctx, p)
	}
	err := p.Warm(ctx)
	all := p.Components()
	for i := range all {
		if c := &all[i]; c.State == pipeline.StateLoading && err != nil {
			c.State, c.Detail = pipeline.StateFailed, err.Error()
		}
	}
	return all
}

// diagnose prints one line for each component, and the commands that install those that are missing.
func diagnose(w io.Writer, name string, components []pipeline.Component) error {
	fmt.Fprintf(w, "The pipeline %q:\n\n", name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var failing []string
	for _, c := range components {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", c.Stage, c.Name, c.State, c.Detail)
		if c.State != pipeline.StateReady {
			failing = append(failing, c.Stage)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(failing) == 0 {
		fmt.Fprintln(w, "\nEverything works.")
		return nil
	}
	fmt.Fprintln(w)
	for _, c := range components {
		if c.State == pipeline.StateMissing && c.Install != "" {
			fmt.Fprintf(w, "To get the %s:\n  %s\n", c.Stage, c.Install)
		}
	}
	return fmt.Errorf("%w: %s", errNotWorking, strings.Join(failing, ", "))
}
