package sherpa

// This file has the engine of the recogniser, which runs in a process of its own.

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
)

// Engine is a backend.Engine for one utterance at a time. Only one goroutine may use it.
type Engine struct {
	decoder *decoder
	model   string
}

// Open loads the library and the recognition model that the configuration names. If one is missing, the error says which command fetches it.
func Open(c Config) (*Engine, error) {
	p, err := c.find(recogniserRole)
	if err != nil {
		return nil, fmt.Errorf("%w: run %s", err, Install)
	}
	return NewEngine(p.Library, p.Model, p.Threads)
}

// NewEngine loads the library and the model. library and model are their folders. threads is how many processors one decoding takes; 0
// means 1. Its errors wrap ErrLibrary, ErrVersion or ErrModel.
func NewEngine(library, model string, threads int) (*Engine, error) {
	lib, err := open(library)
	if err != nil {
		return nil, err
	}
	d, err := newDecoder(lib, library, model, max(threads, 1))
	if err != nil {
		return nil, err
	}
	return &Engine{decoder: d, model: filepath.Base(model)}, nil
}

func (e *Engine) Info() backend.Info {
	return backend.Info{Name: "sherpa", Detail: e.model + ", sherpa-onnx " + Version, Live: true, Times: true}
}

// Open implements backend.Engine. It ignores language and prompt: a model has one language. An utterance of a model that has no times of words has a text
// all the same.
func (e *Engine) Open(_ context.Context, c backend.Config) (backend.Stream, error) {
	s := newStream(e.decoder, c.Live, time.Now)
	s.timed = c.Words && e.decoder.prepare()
	return s, nil
}

func (e *Engine) Close() error {
	e.decoder.close()
	return nil
}
