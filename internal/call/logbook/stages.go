package logbook

// The stages of a pipeline, as they pass the deck: what a session asks them without waiting. Their results come as events.

import (
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Pipeline has a pipeline pass the deck.
func (d *Deck) Pipeline(p *pipeline.Pipeline) *pipeline.Pipeline {
	booked := *p
	m := bookedModel{p.Model, d}
	booked.Model = m
	if _, counts := p.Model.(pipeline.TokenCounter); counts {
		booked.Model = countingModel{m}
	}
	booked.Transcriber, booked.Synthesizer = bookedRecogniser{p.Transcriber, d}, bookedSynthesizer{p.Synthesizer, d}
	if p.Noise != nil {
		booked.Noise = bookedNoise{p.Noise, d}
	}
	booked.Components = func() []pipeline.Component { return Ask(d, "components", p.Components) }
	return &booked
}

type bookedModel struct {
	pipeline.Model
	d *Deck
}

// HearsAudio implements pipeline.AudioModel.
func (m bookedModel) HearsAudio() bool {
	return Ask(m.d, "hears", func() bool {
		a, ok := m.Model.(pipeline.AudioModel)
		return ok && a.HearsAudio()
	})
}

type countingModel struct{ bookedModel }

func (m countingModel) counter() pipeline.TokenCounter {
	c, _ := m.Model.(pipeline.TokenCounter)
	return c
}

// The methods of pipeline.TokenCounter.
func (m countingModel) CountTokens(text string) int {
	return Ask(m.d, "tokens", func() int { return m.counter().CountTokens(text) })
}

func (m countingModel) ContextWindow() int {
	return Ask(m.d, "window", func() int { return m.counter().ContextWindow() })
}

type bookedRecogniser struct {
	pipeline.Transcriber
	d *Deck
}

type negotiated struct {
	Config pipeline.TranscribeConfig
	Err    error
}

// NegotiateConfig implements pipeline.ConfigNegotiator.
func (r bookedRecogniser) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	n := Ask(r.d, "negotiated", func() negotiated {
		m, ok := r.Transcriber.(pipeline.ConfigNegotiator)
		if !ok {
			return negotiated{Config: c}
		}
		c, err := m.NegotiateConfig(c)
		return negotiated{c, err}
	})
	return n.Config, n.Err
}

// Scores implements pipeline.WordScorer.
func (r bookedRecogniser) Scores() bool {
	return Ask(r.d, "scores", func() bool {
		s, ok := r.Transcriber.(pipeline.WordScorer)
		return ok && s.Scores()
	})
}

type bookedSynthesizer struct {
	pipeline.Synthesizer
	d *Deck
}

// CheckVoice implements pipeline.VoiceChecker.
func (s bookedSynthesizer) CheckVoice(name string) error {
	return Ask(s.d, "voice", func() error {
		if v, ok := s.Synthesizer.(pipeline.VoiceChecker); ok {
			return v.CheckVoice(name)
		}
		return nil
	})
}

type bookedNoise struct {
	pipeline.NoiseReducer
	d *Deck
}

// The methods of pipeline.NoiseReducer.
func (n bookedNoise) Component() pipeline.Component {
	return Ask(n.d, "reduces", n.NoiseReducer.Component)
}

func (n bookedNoise) Open(f pipeline.NoiseField) (pipeline.NoiseReduction, error) {
	r := &bookedReduction{nothingReduced{}, n.d}
	err := Ask(n.d, "reduction", func() (err error) {
		r.NoiseReduction, err = n.NoiseReducer.Open(f)
		return err
	})
	return r, err
}

type bookedReduction struct {
	pipeline.NoiseReduction
	d *Deck
}

type reduced struct {
	PCM []int16
	Err error
}

func (r *bookedReduction) reduce(dst []int16, own func() ([]int16, error)) ([]int16, error) {
	before := len(dst)
	out := Ask(r.d, "reduced", func() reduced {
		all, err := own()
		return reduced{all[min(before, len(all)):], err}
	})
	return append(dst[:before], out.PCM...), out.Err
}

// The methods of pipeline.NoiseReduction.
func (r *bookedReduction) Append(dst, pcm []int16) ([]int16, error) {
	return r.reduce(dst, func() ([]int16, error) { return r.NoiseReduction.Append(dst, pcm) })
}

func (r *bookedReduction) Flush(dst []int16) ([]int16, error) {
	return r.reduce(dst, func() ([]int16, error) { return r.NoiseReduction.Flush(dst) })
}

func (r *bookedReduction) Delay() time.Duration {
	return Ask(r.d, "delay", r.NoiseReduction.Delay)
}
