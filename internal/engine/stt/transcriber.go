package stt

// The Transcriber: the recogniser that the pipeline has, and its state.

import (
	"context"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Transcriber is a pipeline.Transcriber whose engine is a server. Its methods may be called by several goroutines at a time. The caller
// closes it.
type Transcriber struct {
	pipeline.Transcriber
	engine *engine
}

// New returns a Transcriber, or an error that says which setting is wrong. It does not call the server.
func New(o Options) (*Transcriber, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	client, err := remote.New(o.Server)
	if err != nil {
		return nil, err
	}
	e := &engine{client: client, o: o}
	return &Transcriber{Transcriber: backend.InProcess(e), engine: e}, nil
}

// NegotiateConfig implements pipeline.ConfigNegotiator. A configured model replaces the session's.
func (t *Transcriber) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	if t.engine.o.Model != "" {
		c.Model = ""
	}
	c.Words = c.Words && t.engine.Info().Times
	return c, nil
}

// Scores implements pipeline.WordScorer.
func (t *Transcriber) Scores() bool { return t.engine.Info().Probs }

// Warm has a second of silence transcribed, so that the server loads its model. It returns a *pipeline.StageError if that fails.
func (t *Transcriber) Warm(ctx context.Context) error {
	_, err := t.engine.ask(ctx, backend.Config{}, make([]byte, 2*pipeline.InputRate), nil)
	return err
}

// Component returns the present state: it has failed if the last request has.
func (t *Transcriber) Component() pipeline.Component { return t.engine.component(t.engine.o.Form.name) }

// Close ends the connections that no transcription uses.
func (t *Transcriber) Close() error {
	t.engine.client.Close()
	return nil
}

// engine opens utterances and sends requests.
type engine struct {
	client *remote.Client
	o      Options
	last   remote.Outcome
}

// component returns the present state.
func (e *engine) component(name string) pipeline.Component {
	return e.last.Component(pipeline.StageTranscriber, name, e.detail())
}

func (e *engine) detail() string {
	at := strings.Join(e.client.Servers(), ", ")
	if e.o.Model == "" {
		return at
	}
	return e.o.Model + " at " + at
}

// Info implements backend.Engine. Only whisper.cpp gives the probabilities of words. Times of words come in the verbose format only.
func (e *engine) Info() backend.Info {
	return backend.Info{
		Name: e.o.Form.name, Detail: e.detail(), Live: e.o.PartialEvery > 0,
		Probs: e.o.Form == WhisperCPP && e.o.Format == FormatVerbose, Times: e.o.Format == FormatVerbose,
	}
}

// Close implements backend.Engine.
func (e *engine) Close() error { return nil }

// Open implements backend.Engine. It does not call the server.
func (e *engine) Open(ctx context.Context, c backend.Config) (backend.Stream, error) {
	return growing.Open(ctx, c, e.o.PartialEvery, e.ask)
}

// settings returns the configuration of one request: the session's, and where that says nothing, the Transcriber's.
func (e *engine) settings(c backend.Config) (model, language, prompt string) {
	model, language, prompt = e.o.Model, c.Language, c.Prompt
	if model == "" {
		model = c.Model
	}
	if language == "" {
		language = e.o.Language
	}
	language, _, _ = strings.Cut(strings.ToLower(language), "-") // Whisper knows "en", not "en-US"
	if prompt == "" {
		prompt = e.o.Prompt
	}
	return model, language, prompt
}
