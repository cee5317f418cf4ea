package ownprocess

// The stage: its processes, and whether it can work.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Stage is a stage whose engine runs in processes. All fields but Install, Hint and Start are required, and none changes after the first
// call. Its methods may be called by several goroutines at a time. The owner closes Pool.
type Stage struct {
	Stage string // pipeline.StageTranscriber or pipeline.StageSynthesizer
	Name  string // of the component
	Pool  *backend.Pool
	// Find returns an error if the library or the model is not on this machine. It starts no process.
	Find func() error
	// Install is the command that installs what is missing. If it is empty, Hint says for an error of Find what the user can do.
	Install string
	Hint    func(err error) string
	// Start starts a process for Warm; nil means Pool.Warm.
	Start func(ctx context.Context) error

	failed atomic.Pointer[error] // of the last try to start
	ready  atomic.Bool           // the engine has worked
}

// Check returns an error that wraps pipeline.ErrUnavailable if something is missing. The error says what the user can do.
func (s *Stage) Check() error {
	err := s.Find()
	if err == nil {
		return nil
	}
	hint := s.Install
	if hint == "" {
		hint = s.Hint(err)
	}
	return &pipeline.StageError{Stage: s.Stage, Err: fmt.Errorf("%w: %w", pipeline.ErrUnavailable, err), Hint: hint}
}

// Warm starts a process, unless one has worked already or something is missing.
func (s *Stage) Warm(ctx context.Context) error {
	if s.Check() != nil || s.ready.Load() {
		return nil
	}
	start := s.Start
	if start == nil {
		start = s.Pool.Warm
	}
	return s.note(ctx, start(ctx))
}

// note keeps the error of a try to start, unless the caller ended the try or it says nothing about the engine. It returns err.
func (s *Stage) note(ctx context.Context, err error) error {
	switch {
	case err == nil:
		s.ready.Store(true)
	case ctx.Err() == nil && !errors.Is(err, pipeline.ErrBusy) && !errors.Is(err, pipeline.ErrNoLive):
		s.failed.Store(&err)
	}
	return err
}

// Component returns the present state of the stage.
func (s *Stage) Component() pipeline.Component {
	c := pipeline.Component{Stage: s.Stage, Name: s.Name, State: pipeline.StateLoading}
	if err := s.Check(); err != nil {
		c.State, c.Install, c.Detail = pipeline.StateMissing, s.Install, err.Error()
		if s.Install != "" {
			c.Detail = errors.Unwrap(err).Error() // without the stage and the command, which the component has
		}
		return c
	}
	if s.ready.Load() {
		c.State, c.Detail = pipeline.StateReady, s.Pool.Info().Detail
	} else if failed := s.failed.Load(); failed != nil {
		c.State, c.Detail = pipeline.StateFailed, (*failed).Error()
	}
	return c
}

// Open implements pipeline.Transcriber for a stage whose Pool has recognisers.
func (s *Stage) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	t, err := s.Pool.Open(ctx, c)
	return t, s.note(ctx, err)
}

// Synthesize implements pipeline.Synthesizer for a stage whose Pool has synthesizers.
func (s *Stage) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	err := s.Pool.Synthesize(ctx, u, emit)
	if err == nil { // an error may be that of emit
		s.ready.Store(true)
	}
	return err
}

// EnglishRecogniser is a recogniser whose model understands English only and takes no prompt.
type EnglishRecogniser struct {
	*Stage
	Times bool // the engine knows the times of words
}

// NegotiateConfig implements pipeline.ConfigNegotiator.
func (e EnglishRecogniser) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	base, _, _ := strings.Cut(strings.ToLower(c.Language), "-")
	if base != "" && base != "en" {
		return c, fmt.Errorf("the recogniser understands English, not %q: want \"en\", or leave it out", c.Language)
	}
	c.Prompt, c.Words = "", c.Words && e.Times
	return c, nil
}

// Recogniser returns the stage for a pipeline. impl is the stage, or has it.
func (s *Stage) Recogniser(impl pipeline.Transcriber) pipeline.Stage[pipeline.Transcriber] {
	return pipeline.Stage[pipeline.Transcriber]{Impl: impl, Component: s.Component, Warm: s.Warm, Close: s.Pool.Close}
}
