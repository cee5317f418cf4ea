package scripted

// This file assembles the pipeline.

import (
	"context"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Options configure a scripted pipeline.
type Options struct {
	Script *Script // nil: the default behaviour
}

// New returns a scripted pipeline. It holds no resources, so its Close does nothing.
func New(o Options) *pipeline.Pipeline {
	p := pipeline.Compose("scripted", Recogniser(o), Model(o), Synthesizer(o))
	p.Prompts = o.prompts()
	return p
}

func (o Options) prompts() map[string]pipeline.Prompt {
	prompts := map[string]pipeline.Prompt{}
	if o.Script != nil {
		for _, k := range o.Script.Prompts {
			prompts[k.ID] = pipeline.Prompt{Version: k.Version, Text: k.Text}
		}
	}
	return prompts
}

// Recogniser returns the recogniser of the pipeline alone.
func Recogniser(o Options) pipeline.Stage[pipeline.Transcriber] {
	rules := &o.script().Transcriber
	var t pipeline.Transcriber = missing{hint: rules.Missing}
	if rules.Missing == "" {
		t = backend.InProcess(&engine{rules: rules, analyser: newAnalyser()})
	}
	return stage(o, t, pipeline.StageTranscriber, "reads a test signal, reports other speech by its length", rules.Missing)
}

// Model returns the model of the pipeline alone.
func Model(o Options) pipeline.Stage[pipeline.Model] {
	return stage[pipeline.Model](o, &model{rules: &o.script().Model}, pipeline.StageModel, "answers by a script", "")
}

// Synthesizer returns the synthesizer of the pipeline alone.
func Synthesizer(o Options) pipeline.Stage[pipeline.Synthesizer] {
	rules := &o.script().Synthesizer
	return stage[pipeline.Synthesizer](o, &synthesizer{rules: rules, waves: waves()}, pipeline.StageSynthesizer, "speaks in tones", rules.Missing)
}

// stage returns a stage that takes as long to load as the script says. install is the command that would install it; "" for a stage
// that is not missing.
func stage[S any](o Options, impl S, name, detail, install string) pipeline.Stage[S] {
	load := o.script().Load
	var warm atomic.Bool
	warm.Store(load == 0)
	return pipeline.Stage[S]{
		Impl: impl,
		Warm: func(ctx context.Context) error {
			if warm.Load() {
				return ctx.Err()
			}
			if err := pause(ctx, load); err != nil {
				return err
			}
			warm.Store(true)
			return nil
		},
		Component: func() pipeline.Component {
			c := pipeline.Component{Stage: name, Name: "scripted", State: pipeline.StateLoading, Detail: "for tests and benchmarks: " + detail, Install: install}
			switch {
			case install != "":
				c.State, c.Detail = pipeline.StateMissing, "the script says that it is missing"
			case warm.Load():
				c.State = pipeline.StateReady
			}
			return c
		},
	}
}

// script returns the script, which is empty for the default behaviour.
func (o Options) script() *Script {
	if o.Script == nil {
		return &Script{}
	}
	return o.Script
}

// Load returns the pipeline for the script in a file.
func Load(path string) (*pipeline.Pipeline, error) {
	s, err := LoadScript(path)
	if err != nil {
		return nil, err
	}
	return New(Options{Script: s}), nil
}

// LoadScript reads the script in a file.
func LoadScript(path string) (*Script, error) {
	src, err := strict.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// missing is the recogniser of a script that says it is not installed.
type missing struct{ hint string }

// Open implements pipeline.Transcriber.
func (m missing) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return nil, &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: pipeline.ErrUnavailable, Hint: m.hint}
}
