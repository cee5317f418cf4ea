package sphinx

import (
	"context"

	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
)

// bandFloor is the power that the front end adds to each band: about that of a quiet room in 16 bit samples.
const bandFloor = 50

// Engine is a recogniser for one utterance at a time.
type Engine struct {
	decoder *Decoder
	front   *frontend
}

// NewEngine loads the recogniser. Its error wraps a *MissingError when something is not installed.
func NewEngine(p Places) (*Engine, error) {
	paths, err := Find(p)
	if err != nil {
		return nil, err
	}
	d, err := Load(paths)
	if err != nil {
		return nil, err
	}
	front := newFrontend()
	front.floor = bandFloor
	return &Engine{decoder: d, front: front}, nil
}

// Info implements backend.Engine.
func (e *Engine) Info() backend.Info {
	return backend.Info{Name: "pocketsphinx", Detail: "en-us, open vocabulary", Live: true}
}

// Close implements backend.Engine.
func (e *Engine) Close() error { return e.decoder.Close() }

// Open implements backend.Engine.
func (e *Engine) Open(_ context.Context, _ backend.Config) (backend.Stream, error) {
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
	frames []cepstrum
	ended  bool
}

// Feed implements backend.Stream.
func (s *stream) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	s.frames = s.engine.front.write(s.frames[:0], pcm)
	for i := range s.frames {
		s.mean.subtract(&s.frames[i])
	}
	if err := s.engine.decoder.Feed(s.frames); err != nil {
		return backend.Update{}, err
	}
	return backend.Update{Partial: s.engine.decoder.Text()}, nil
}

// Finish implements backend.Stream.
func (s *stream) Finish(context.Context) (backend.Result, error) {
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

// mean is the cepstral mean of the speech so far, which is taken out of each frame: it stands for the microphone and the
// room. It begins with the mean of typical speech, so that the first words are not lost to an unknown channel.
type mean struct {
	sum   [ceps]float64
	count float64
	top   float32 // the loudest frame's first coefficient
}

// typical is the cepstral mean of the speech that the model en-us was trained on (its feat.params, cmninit), and
// priorFrames is how many frames of speech it counts for.
var typical = [ceps]float64{41.00, -5.29, -0.12, 5.09, 2.48, -4.07, -1.37, -1.78, -5.08, -2.05, -6.45, -1.42, 1.17}

const priorFrames = 100

func newMean() mean {
	m := mean{count: priorFrames, top: -1e9}
	for i, v := range typical {
		m.sum[i] = v * priorFrames
	}
	return m
}

// Frames that are much quieter than the loudest are pauses: they say nothing of the channel.
const (
	pauseBelow = 20 // of the first cepstral coefficient
	pauseUnder = 20
)

func (m *mean) subtract(c *cepstrum) {
	m.top = max(m.top, c[0])
	if c[0] > m.top-pauseBelow && c[0] > pauseUnder {
		m.count++
		for i, v := range c {
			m.sum[i] += float64(v)
		}
	}
	for i := range c {
		c[i] -= float32(m.sum[i] / m.count)
	}
}
