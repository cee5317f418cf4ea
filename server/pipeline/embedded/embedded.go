package embedded

// This file makes the stages and assembles the pipeline, and has its recogniser.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/assistant"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/flite"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/sphinx"
	"github.com/antiphon-rt/antiphon/server/pipeline/speakable"
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
func Recogniser(o Options) (stage pipeline.Stage[pipeline.Transcriber], err error) {
	self, err := os.Executable()
	if err != nil {
		return stage, fmt.Errorf("embedded: %w", err)
	}
	places, err := json.Marshal(o.Recogniser)
	if err != nil {
		return stage, fmt.Errorf("embedded: %w", err)
	}
	r := &recogniser{places: o.Recogniser}
	r.pool = backend.NewPool(backend.Options{Max: o.Processes, Logger: o.Logger, Command: func() *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), processEnv+"="+string(places))
		return cmd
	}})
	return pipeline.Stage[pipeline.Transcriber]{Impl: r, Component: r.component, Warm: r.warm, Close: r.pool.Close}, nil
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

// recogniser is the pipeline.Transcriber: pocketsphinx in processes of its own.
type recogniser struct {
	places sphinx.Places
	pool   *backend.Pool
	failed atomic.Pointer[error] // error of the last try to load the model
	ready  atomic.Bool
}

// Open implements pipeline.Transcriber.
func (r *recogniser) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	t, err := r.pool.Open(ctx, c)
	if err == nil {
		r.ready.Store(true)
	}
	return t, err
}

// NegotiateConfig implements pipeline.ConfigNegotiator. The model is English and takes no prompt.
func (r *recogniser) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	base, _, _ := strings.Cut(strings.ToLower(c.Language), "-")
	if base != "" && base != "en" {
		return c, fmt.Errorf("the recogniser understands English, not %q: want \"en\", or leave it out", c.Language)
	}
	c.Prompt = ""
	return c, nil
}

// check returns an error if the library or the model is not installed.
func (r *recogniser) check() error {
	if _, err := sphinx.Find(r.places); err != nil {
		return &pipeline.StageError{
			Stage: pipeline.StageTranscriber, Err: fmt.Errorf("%w: %w", pipeline.ErrUnavailable, err), Hint: sphinx.Install,
		}
	}
	return nil
}

// warm starts a recogniser process, unless one has worked already or a package is missing.
func (r *recogniser) warm(ctx context.Context) error {
	if r.check() != nil || r.ready.Load() {
		return nil
	}
	err := r.pool.Warm(ctx)
	if ctx.Err() == nil {
		r.failed.Store(&err)
		r.ready.Store(err == nil)
	}
	return err
}

// component returns the present state of the recogniser.
func (r *recogniser) component() pipeline.Component {
	c := pipeline.Component{Stage: pipeline.StageTranscriber, Name: "pocketsphinx", State: pipeline.StateLoading}
	if err := r.check(); err != nil {
		c.State, c.Install = pipeline.StateMissing, sphinx.Install
		c.Detail = errors.Unwrap(err).Error()
		return c
	}
	if r.ready.Load() {
		c.State, c.Detail = pipeline.StateReady, r.pool.Info().Detail
	} else if failed := r.failed.Load(); failed != nil && *failed != nil {
		c.State, c.Detail = pipeline.StateFailed, (*failed).Error()
	}
	return c
}
