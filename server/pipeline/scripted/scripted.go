package scripted

// This file assembles the pipeline.

import (
	"context"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
)

// Options configure a scripted pipeline.
type Options struct {
	Script *Script // nil: the default behaviour
}

// New returns a scripted pipeline. It holds no resources, so its Close does nothing.
func New(o Options) *pipeline.Pipeline {
	s := o.Script
	if s == nil {
		s = &Script{}
	}
	p := &state{script: s}
	p.warm.Store(s.Load == 0)
	prompts := map[string]pipeline.Prompt{}
	for _, k := range s.Prompts {
		prompts[k.ID] = pipeline.Prompt{Version: k.Version, Text: k.Text}
	}
	return &pipeline.Pipeline{
		Prompts:     prompts,
		Name:        "scripted",
		Transcriber: p.transcriber(),
		Model:       &model{rules: &s.Model},
		Synthesizer: &synthesizer{rules: &s.Synthesizer, waves: waves()},
		Close:       func() error { return nil },
		Components:  p.components,
		Warm:        p.load,
	}
}

// Load returns the pipeline for the script in a file.
func Load(path string) (*pipeline.Pipeline, error) {
	src, err := read(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	return New(Options{Script: s}), nil
}

// state is the state of a pipeline.
type state struct {
	script *Script
	warm   atomic.Bool
}

func (p *state) transcriber() pipeline.Transcriber {
	if p.script.Transcriber.Missing != "" {
		return missing{hint: p.script.Transcriber.Missing}
	}
	return backend.InProcess(&engine{rules: &p.script.Transcriber, analyser: newAnalyser()})
}

func (p *state) load(ctx context.Context) error {
	if p.warm.Load() {
		return ctx.Err()
	}
	if err := pause(ctx, p.script.Load); err != nil {
		return err
	}
	p.warm.Store(true)
	return nil
}

func (p *state) components() []pipeline.Component {
	const note = "for tests and benchmarks: "
	all := []pipeline.Component{
		{Stage: pipeline.StageTranscriber, Detail: note + "reads a test signal, reports other speech by its length", Install: p.script.Transcriber.Missing},
		{Stage: pipeline.StageModel, Detail: note + "answers by a script"},
		{Stage: pipeline.StageSynthesizer, Detail: note + "speaks in tones", Install: p.script.Synthesizer.Missing},
	}
	for i := range all {
		c := &all[i]
		c.Name = "scripted"
		switch {
		case c.Install != "":
			c.State, c.Detail = pipeline.StateMissing, "the script says that it is missing"
		case p.warm.Load():
			c.State = pipeline.StateReady
		default:
			c.State = pipeline.StateLoading
		}
	}
	return all
}

// missing is the recogniser of a script that says it is not installed.
type missing struct{ hint string }

// Open implements pipeline.Transcriber.
func (m missing) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return nil, &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: pipeline.ErrUnavailable, Hint: m.hint}
}
