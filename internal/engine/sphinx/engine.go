package sphinx

// This file has the engine: it turns audio into partial and final text.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
)

// Engine is a backend.Engine for one utterance at a time. Only one goroutine may use it.
type Engine struct {
	decoder *Decoder
	front   *frontend
}

// NewEngine loads the recogniser. It returns an error that wraps a *MissingError when something is not installed.
func NewEngine(p Places) (*Engine, error) {
	paths, err := Find(p)
	if err != nil {
		return nil, err
	}
	d, err := Load(paths)
	if err != nil {
		return nil, err
	}
	return &Engine{decoder: d, front: newFrontend()}, nil
}

// Info implements backend.Engine.
func (e *Engine) Info() backend.Info {
	return backend.Info{Name: "pocketsphinx", Detail: "en-us, open vocabulary", Live: true}
}

// Close implements backend.Engine.
func (e *Engine) Close() error { return e.decoder.Close() }

// Open implements backend.Engine. It ignores language and prompt: the model is English.
func (e *Engine) Open(context.Context, backend.Config) (backend.Stream, error) {
	if err := e.decoder.Start(); err != nil {
		return nil, err
	}
	e.front.reset()
	return &stream{engine: e, mean: newMean()}, nil
}

// stream is one utterance.
type stream struct {
	engine *Engine
	mean   mean
	held   []cepstrum // frames that wait until the mean is known
	ended  bool
}

// Feed implements backend.Stream.
func (s *stream) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	n := len(s.held)
	s.held = s.engine.front.write(s.held, pcm)
	for i := range s.held[n:] {
		s.mean.learn(&s.held[n+i])
	}
	if !s.mean.known() && len(s.held) < maxHeld {
		return backend.Update{}, nil
	}
	if err := s.decode(); err != nil {
		return backend.Update{}, err
	}
	return backend.Update{Partial: s.engine.decoder.Text()}, nil
}

// decode subtracts the mean from the held frames and gives them to the decoder.
func (s *stream) decode() error {
	for i := range s.held {
		s.mean.subtract(&s.held[i])
	}
	err := s.engine.decoder.Feed(s.held)
	s.held = s.held[:0]
	return err
}

// Finish implements backend.Stream.
func (s *stream) Finish(context.Context) (backend.Result, error) {
	if err := s.decode(); err != nil {
		return backend.Result{}, err
	}
	if err := s.end(); err != nil {
		return backend.Result{}, err
	}
	r := backend.Result{Text: s.engine.decoder.Text()}
	for _, w := range s.engine.decoder.Segments() {
		r.Words = append(r.Words, backend.Word{Text: w.Word, StartMS: 10 * w.Start, EndMS: 10 * w.End})
	}
	return r, nil
}

// Close implements backend.Stream.
func (s *stream) Close() error { return s.end() }

func (s *stream) end() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.engine.decoder.Finish()
}
