package embedded

// This file makes the stages and assembles the pipeline.

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/assistant"
	"github.com/antiphon-rt/antiphon/internal/engine/flite"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Options configure an embedded pipeline. The zero value uses what `antiphon models get neural-en` has fetched, and the package flite.
type Options struct {
	// Flite is the path of the program flite; "" searches the PATH.
	Flite string
	// Models is the folder of this machine's models; "" takes the one that the environment variable ANTIPHON_MODELS names, or else the user's.
	Models string
	// Processes limits the processes of the recogniser, which take about 200 MB each; 0 means 4.
	Processes int
	// Now is the clock of the assistant; nil means time.Now.
	Now func() time.Time
	// Logger gets warnings and errors. nil discards them.
	Logger *slog.Logger
}

// New returns the pipeline. Missing models or a missing package are no error of New: Components says what is missing and which command
// fetches it, and the stage that needs it returns an error that says the same. Text is answered with text in any case.
func New(_ context.Context, o Options) (*pipeline.Pipeline, error) {
	r, err := sherpa.Recogniser(sherpa.Config{Models: o.Models, Processes: o.Processes, Logger: o.Logger})
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	p := pipeline.Compose("embedded", r, Assistant(o), Synthesizer(o))
	p.Speakable = speakable.New(speakable.English)
	return p, nil
}

// Assistant returns the model of the pipeline alone.
func Assistant(o Options) pipeline.Stage[pipeline.Model] {
	return pipeline.Stage[pipeline.Model]{Impl: assistant.New(o.Now), Component: func() pipeline.Component {
		return pipeline.Component{Stage: pipeline.StageModel, Name: "assistant", State: pipeline.StateReady, Detail: "built in; antiphon setup attaches a language model"}
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
