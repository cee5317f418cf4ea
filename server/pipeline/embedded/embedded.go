package embedded

// This file makes the stages and assembles the pipeline, and has its recogniser.

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/assistant"
	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/flite"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
	"github.com/antiphon-rt/antiphon/internal/engine/sphinx"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Options configure an embedded pipeline. The zero value uses the packages of the distribution.
type Options struct {
	// Flite is the path of the program flite; "" searches the PATH.
	Flite string
	// Recogniser has the folders with the library and the model of the recogniser.
	Recogniser sphinx.Places
	// Processes limits the processes of the recogniser, which take about 100 MB each; 0 means 4.
	Processes int
	// Now is the clock of the assistant; nil means time.Now.
	Now func() time.Time
	// Logger gets warnings and errors. nil discards them.
	Logger *slog.Logger
}

// New returns the pipeline. A missing package is no error of New: Components says which one is missing and how to install it, and the
// stage that needs it returns an error that says the same. Text is answered with text in any case.
func New(_ context.Context, o Options) (*pipeline.Pipeline, error) {
	r, err := Recogniser(o)
	if err != nil {
		return nil, err
	}
	p := pipeline.Compose("embedded", r, Assistant(o), Synthesizer(o))
	p.Speakable = speakable.New(speakable.English)
	return p, nil
}

// Recogniser returns the recogniser of the pipeline alone: pocketsphinx in processes of its own.
func Recogniser(o Options) (pipeline.Stage[pipeline.Transcriber], error) {
	command, err := ownprocess.Command(processEnv, func() sphinx.Places { return o.Recogniser })
	if err != nil {
		return pipeline.Stage[pipeline.Transcriber]{}, fmt.Errorf("embedded: %w", err)
	}
	s := &ownprocess.Stage{
		Stage: pipeline.StageTranscriber, Name: "pocketsphinx", Install: sphinx.Install,
		Pool: backend.NewPool(backend.Options{Max: o.Processes, Logger: o.Logger, Command: command}),
		Find: func() error {
			_, err := sphinx.Find(o.Recogniser)
			return err
		},
	}
	return s.Recogniser(ownprocess.EnglishRecogniser{Stage: s}), nil
}

// Assistant returns the model of the pipeline alone.
func Assistant(o Options) pipeline.Stage[pipeline.Model] {
	return pipeline.Stage[pipeline.Model]{Impl: assistant.New(o.Now), Component: func() pipeline.Component {
		return pipeline.Component{Stage: pipeline.StageModel, Name: "assistant", State: pipeline.StateReady, Detail: "built in"}
	}}
}

// Synthesizer returns the synthesizer of the pipeline alone: Flite.
func Synthesizer(o Options) pipeline.Stage[pipeline.Synthesizer] {
	s := flite.New(flite.Options{Path: o.Flite})
	return pipeline.Stage[pipeline.Synthesizer]{Impl: s, Component: func() pipeline.Component { return synthesizerComponent(s) }, Close: s.Close}
}

// synthesizerComponent returns the present state of Flite.
func synthesizerComponent(v *flite.Synthesizer) pipeline.Component {
	c := pipeline.Component{Stage: pipeline.StageSynthesizer, Name: "flite", State: pipeline.StateReady, Detail: "voices awb, kal16, rms and slt, and the protocol's names for them"}
	if err := v.Check(); err != nil {
		c.State, c.Detail, c.Install = pipeline.StateMissing, "the package flite is not installed", flite.Install
	}
	return c
}
