package smartturn

// The engine: the features and the model, in a process of their own.

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/onnx"
)

// modelFile is the name of the model, in its folder.
const modelFile = "smart-turn.onnx"

// Engine is a backend.Engine whose utterance is the end of a turn. The result of the utterance has one word, whose probability is the probability
// that the user has finished. Only one goroutine may use it.
type Engine struct {
	model     *onnx.Model
	extractor *extractor
	version   string // of ONNX Runtime
}

// NewEngine loads ONNX Runtime and the model. library and folder are their folders. threads is how many processors one run takes. Its errors
// wrap onnx.ErrLibrary or onnx.ErrModel.
func NewEngine(library, folder string, threads int) (*Engine, error) {
	l, err := onnx.Open(library)
	if err != nil {
		return nil, err
	}
	m, err := l.LoadFile(filepath.Join(folder, modelFile), max(1, threads), []string{"input_features"}, []string{"logits"})
	if err != nil {
		return nil, err
	}
	return &Engine{model: m, extractor: newExtractor(), version: l.Version}, nil
}

// Probability returns how probable it is that the user has finished the turn. pcm is the turn so far, mono at pipeline.InputRate. The model hears
// the last 8 s of it.
func (e *Engine) Probability(pcm []float32) (float64, error) {
	out, err := e.model.Run(onnx.Tensor{Shape: []int64{1, mels, frames}, Floats: e.extractor.extract(pcm)})
	if err != nil {
		return 0, err
	}
	if n := len(out[0].Floats); n != 1 {
		return 0, fmt.Errorf("%w: it has %d results, want 1", onnx.ErrModel, n)
	}
	p := float64(out[0].Floats[0])
	if !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("%w: its result %v is no probability", onnx.ErrModel, p)
	}
	return p, nil
}

func (e *Engine) Info() backend.Info {
	return backend.Info{Name: name, Detail: "ONNX Runtime " + e.version}
}

// Open implements backend.Engine. It ignores the configuration.
func (e *Engine) Open(context.Context, backend.Config) (backend.Stream, error) {
	return &stream{engine: e}, nil
}

func (e *Engine) Close() error {
	e.model.Close()
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
