package parakeet

// This file has the engine of the recogniser, which runs in a process of its own.

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
)

// Engine is a backend.Engine for one utterance at a time. Only one goroutine may use it.
type Engine struct {
	lib     *library
	model   uintptr
	name    string
	version int32
	streams bool   // the model decodes while the user speaks
	whyNot  string // why the model does not stream
}

// NewEngine opens the library (a path, or a name where the system looks for libraries) and loads the model, a GGUF file. Its errors wrap
// ErrLibrary, ErrVersion or ErrModel.
func NewEngine(library, model string) (*Engine, error) {
	lib, err := open(library)
	if err != nil {
		return nil, err
	}
	e := &Engine{lib: lib, name: filepath.Base(model), version: lib.version()}
	if e.model = lib.load(model); e.model == 0 {
		return nil, fmt.Errorf("%w: %s does not load", ErrModel, model)
	}
	if s := lib.begin(e.model, ""); s != 0 {
		e.streams = true
		lib.end(s)
	} else {
		e.whyNot = lib.why(e.model)
	}
	return e, nil
}

func (e *Engine) Info() backend.Info {
	return backend.Info{
		Name: "parakeet", Detail: fmt.Sprintf("%s, parakeet.cpp's C interface %d", e.name, e.version), Live: e.streams, Probs: e.streams, Times: e.streams,
	}
}

// Open implements backend.Engine. It ignores the model and the prompt. A model that does not stream has no live results.
func (e *Engine) Open(_ context.Context, c backend.Config) (backend.Stream, error) {
	switch {
	case !e.streams && c.Live:
		return nil, fmt.Errorf("%w: %s does not stream: %s", backend.ErrUnimplemented, e.name, e.whyNot)
	case !e.streams:
		return &whole{engine: e, language: c.Language}, nil
	}
	s := e.lib.begin(e.model, c.Language)
	if s == 0 {
		return nil, fmt.Errorf("%w: %s, language %q: %s", ErrModel, e.name, c.Language, e.lib.why(e.model))
	}
	return &stream{engine: e, handle: s}, nil
}

func (e *Engine) Close() error {
	e.lib.free(e.model)
	e.model = 0
	return nil
}
