package embedded

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
)

// Options are what an embedded pipeline is made of. The zero value is the distribution's packages.
type Options struct {
	// Flite is the program that speaks; "" looks for it on the PATH.
	Flite string
	// Recogniser is where the recogniser's library and model are looked for.
	Recogniser sphinx.Places
	// Processes bounds the recogniser's processes, of some 100 MB each; 0 takes 4.
	Processes int
	// Now tells the assistant the time; nil takes time.Now.
	Now func() time.Time
	// Logger gets what goes wrong. nil discards.
	Logger *slog.Logger
}

// New makes the pipeline. It does not fail because a package is missing: Components then says which, and what installs it;
// what needs it gives errors that say the same; and a text is answered with a text in any case.
func New(_ context.Context, o Options) (*pipeline.Pipeline, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	places, err := json.Marshal(o.Recogniser)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	e := &ear{places: o.Recogniser}
	e.pool = backend.NewPool(backend.Options{Max: o.Processes, Logger: o.Logger, Command: func() *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), processEnv+"="+string(places))
		ownProcessGroup(cmd)
		return cmd
	}})
	voice := flite.New(flite.Options{Path: o.Flite})
	return &pipeline.Pipeline{
		Name:        "embedded",
		Transcriber: e,
		Model:       assistant.New(o.Now),
		Synthesizer: voice,
		Close:       func() error { return errors.Join(voice.Close(), e.pool.Close()) },
		Warm:        e.warm,
		Components: func() []pipeline.Component {
			return []pipeline.Component{
				e.component(),
				{Stage: pipeline.StageModel, Name: "assistant", State: pipeline.StateReady, Detail: "built in"},
				voiceComponent(voice),
			}
		},
	}, nil
}

func voiceComponent(v *flite.Synthesizer) pipeline.Component {
	c := pipeline.Component{Stage: pipeline.StageSynthesizer, Name: "flite", State: pipeline.StateReady, Detail: "voices awb, kal16, rms and slt, and the protocol's names for them"}
	if err := v.Check(); err != nil {
		c.State, c.Detail, c.Install = pipeline.StateMissing, "the package flite is not installed", flite.Install
	}
	return c
}

// ear is the transcriber: pocketsphinx in processes of its own.
type ear struct {
	places sphinx.Places
	pool   *backend.Pool
	failed atomic.Pointer[error] // of the last try to load
	ready  atomic.Bool
}

// Open implements pipeline.Transcriber.
func (e *ear) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	t, err := e.pool.Open(ctx, c)
	if err == nil {
		e.ready.Store(true)
	}
	return t, err
}

// NegotiateConfig implements pipeline.ConfigNegotiator: the model is English and takes no hints.
func (e *ear) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	base, _, _ := strings.Cut(strings.ToLower(c.Language), "-")
	if base != "" && base != "en" {
		return c, fmt.Errorf("the recogniser understands English, not %q: want \"en\", or leave it out", c.Language)
	}
	c.Prompt = ""
	return c, nil
}

// check says whether everything is installed.
func (e *ear) check() error {
	if _, err := sphinx.Find(e.places); err != nil {
		return &pipeline.StageError{
			Stage: pipeline.StageTranscriber, Err: fmt.Errorf("%w: %w", pipeline.ErrUnavailable, err), Hint: sphinx.Install,
		}
	}
	return nil
}

// warm loads the recogniser once, unless it is missing.
func (e *ear) warm(ctx context.Context) error {
	if e.check() != nil || e.ready.Load() {
		return nil
	}
	err := e.pool.Warm(ctx)
	if ctx.Err() == nil {
		e.failed.Store(&err)
		e.ready.Store(err == nil)
	}
	return err
}

func (e *ear) component() pipeline.Component {
	c := pipeline.Component{Stage: pipeline.StageTranscriber, Name: "pocketsphinx", State: pipeline.StateLoading}
	if err := e.check(); err != nil {
		c.State, c.Install = pipeline.StateMissing, sphinx.Install
		c.Detail = errors.Unwrap(err).Error()
		return c
	}
	if e.ready.Load() {
		c.State, c.Detail = pipeline.StateReady, e.pool.Info().Detail
	} else if failed := e.failed.Load(); failed != nil && *failed != nil {
		c.State, c.Detail = pipeline.StateFailed, (*failed).Error()
	}
	return c
}

// Doctor tries every component for real: it has the voice say a word and the recogniser understand it. What does not work
// says why in its Detail.
func Doctor(ctx context.Context, p *pipeline.Pipeline) []pipeline.Component {
	_ = p.Warm(ctx) // the state of what does not come up says so
	components := p.Components()
	said, err := speak(ctx, p)
	for i := range components {
		c := &components[i]
		if c.State != pipeline.StateReady {
			continue
		}
		var trouble error
		switch c.Stage {
		case pipeline.StageSynthesizer:
			trouble = err
		case pipeline.StageTranscriber:
			if err == nil {
				trouble = understand(ctx, p, said)
			}
		}
		if trouble != nil {
			c.State, c.Detail = pipeline.StateFailed, trouble.Error()
		}
	}
	return components
}
