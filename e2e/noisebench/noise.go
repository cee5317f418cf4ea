package main

// This file counts the wrong words of recognisers in noise, with and without noise reduction.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/rnnoise"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	noiseFirst = 3 * human.Rate // noise before the recogniser's turn, in samples: the call has begun before
	before     = human.Rate / 2
	after      = human.Rate / 2
	finish     = 2 * time.Minute
)

// measureNoise prints the table of the part noise.
func measureNoise(ctx context.Context, o options, caller, others []prompt) error {
	reducer := rnnoise.New(rnnoise.Config{Models: o.models})
	defer func() { _ = reducer.Close() }() // nothing is lost
	if c := reducer.Component(); c.State != pipeline.StateReady {
		return fmt.Errorf("noise reduction: %s: %s %s", c.State, c.Detail, c.Install)
	}
	caller = sentences(caller, o.n)
	fmt.Println("\n| noise | signal to noise | without | near_field | far_field |\n|---|---|---|---|---|")
	return measureEngine(ctx, o, reducer, caller, others)
}

// sentences returns n of the prompts that have at least four words, spread over all.
func sentences(all []prompt, n int) (some []prompt) {
	var long []prompt
	for _, p := range all {
		if len(strings.Fields(p.text)) >= 4 && !strings.HasPrefix(p.name, "letters/") {
			long = append(long, p)
		}
	}
	n = min(n, len(long))
	for i := range n {
		some = append(some, long[i*len(long)/n])
	}
	return some
}

func measureEngine(ctx context.Context, o options, reducer pipeline.NoiseReducer, caller, others []prompt) (err error) {
	s, err := sherpa.Recogniser(sherpa.Config{Models: o.models, Processes: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Warm(ctx); err != nil {
		return err
	}
	near, far := pipeline.NearField, pipeline.FarField
	for _, noise := range []string{"fan", "8 people"} {
		for _, ratio := range []float64{20, 10, 5} {
			var cells []string
			for _, field := range []*pipeline.NoiseField{nil, &near, &far} {
				wrong, words := 0, 0
				for i, p := range caller {
					x, err := noisy(p, others, noise, ratio, uint64(i), reducer, field)
					if err != nil {
						return err
					}
					text, err := recognise(ctx, s.Impl, x)
					if err != nil {
						return fmt.Errorf("%s: %w", p.name, err)
					}
					n, of := human.WrongWords(p.text, text)
					wrong, words = wrong+n, words+of
				}
				cells = append(cells, fmt.Sprintf("%.1f %%", 100*float64(wrong)/float64(words)))
			}
			fmt.Printf("| %s | %v dB | %s |\n", noise, ratio, strings.Join(cells, " | "))
		}
	}
	return nil
}

// noisy returns a prompt in noise as the recogniser gets it: through noise reduction, if field is not nil, as in a call.
func noisy(p prompt, others []prompt, noise string, ratio float64, seed uint64, reducer pipeline.NoiseReducer, field *pipeline.NoiseField) ([]float32, error) {
	random := rand.New(rand.NewPCG(3, seed))
	x := make([]float32, noiseFirst+before+len(p.pcm)+after)
	add(x[noiseFirst+before:], p.pcm, 1)
	around := fan
	if noise != "fan" {
		around = func(n int, random *rand.Rand) []float32 { return talk(others, 8, n, random) }
	}
	add(x, around(len(x), random), gainOf(-ratio))
	if field == nil {
		return x[noiseFirst:], nil
	}
	r, err := reducer.Open(*field)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	up, err := voice.NewResampler(human.Rate, pipeline.NoiseRate)
	if err != nil {
		return nil, err
	}
	down, err := voice.NewResampler(pipeline.NoiseRate, human.Rate)
	if err != nil {
		return nil, err
	}
	y, err := r.Append(nil, voice.FloatToPCM16(nil, up.Flush(up.Append(nil, x))))
	if err == nil {
		y, err = r.Flush(y)
	}
	if err != nil {
		return nil, err
	}
	return down.Flush(down.Append(nil, voice.PCM16ToFloat(nil, y)))[noiseFirst:], nil
}

// recognise returns the text of a whole recording.
func recognise(ctx context.Context, r pipeline.Transcriber, pcm []float32) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, finish)
	defer cancel()
	t, err := r.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := errors.Join(t.Write(pcm), t.CloseInput()); err != nil {
		return "", err
	}
	for result := range t.Results() {
		if result.Err != nil {
			return "", result.Err
		}
		text = result.Text
	}
	return text, nil
}
