package smartturn

// The engine: the features and the model, in a process of their own.

import (
	"context"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
)

// modelFile is the name of the model, in its folder.
const modelFile = "smart-turn.onnx"

// Engine is a backend.Engine whose utterance is the end of a turn. The result of the utterance has one word, whose probability is the probability
// that the user has finished. Only one goroutine may use it.
type Engine struct {
	model     *model
	extractor *extractor
	version   string // of ONNX Runtime
}

// NewEngine loads ONNX Runtime and the model. library and folder are their folders. threads is how many processors one run takes. Its errors
// wrap ErrLibrary or ErrModel.
func NewEngine(library, folder string, threads int) (*Engine, error) {
	l, version, err := openLibrary(library)
	if err != nil {
		return nil, err
	}
	m, err := l.load(filepath.Join(folder, modelFile), max(1, threads))
	if err != nil {
		return nil, err
	}
	return &Engine{model: m, extractor: newExtractor(), version: version}, nil
}

// Probability returns how probable it is that the user has finished the turn. pcm is the turn so far, mono at pipeline.InputRate. The model hears
// the last 8 s of it.
func (e *Engine) Probability(pcm []float32) (float64, error) {
	return e.model.probability(e.extractor.extract(pcm))
}

func (e *Engine) Info() backend.Info {
	return backend.Info{Name: name, Detail: "ONNX Runtime " + e.version}
}

// Open implements backend.Engine. It ignores the configuration.
func (e *Engine) Open(context.Context, backend.Config) (backend.Stream, error) {
	return &stream{engine: e}, nil
}

func (e *Engine) Close() error {
	e.model.close()
	return nil
}

// stream is a backend.Stream: the end of one turn.
type stream struct {
	engine *Engine
	pcm    []float32
}

func (s *stream) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	s.pcm = append(s.pcm, pcm...)
	if extra := len(s.pcm) - samples; extra > 0 {
		s.pcm = append(s.pcm[:0], s.pcm[extra:]...)
	}
	return backend.Update{}, nil
}

func (s *stream) Finish(context.Context) (backend.Result, error) {
	p, err := s.engine.Probability(s.pcm)
	return backend.Result{Words: []backend.Word{{Text: endWord, Prob: p}}}, err
}

// endWord is the word of a result.
const endWord = "end"

func (s *stream) Close() error { return nil }
