package noisebench

// This file counts the wrong words of recognisers in noise, with and without noise reduction.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/rnnoise"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	noiseFirst = 3 * human.Rate // noise before the recogniser's turn, in samples: the call has begun before
	before     = human.Rate / 2
	after      = human.Rate / 2
	finish     = 2 * time.Minute
)

// BenchmarkNoise counts wrong words.
func BenchmarkNoise(b *testing.B) {
	reducer := rnnoise.New(rnnoise.Config{Models: models})
	ends(b, reducer.Close)
	if c := reducer.Component(); c.State != pipeline.StateReady {
		b.Fatalf("noise reduction: %s: %s %s", c.State, c.Detail, c.Install)
	}
	ears := ears(b).Transcriber
	caller, others := human.Sentences(prompts(b, 'a', 'm'), *count), prompts(b, 'n', 'z')
	near, far := pipeline.NearField, pipeline.FarField
	for _, noise := range []string{"fan", "8 people"} {
		for _, ratio := range []float64{20, 10, 5} {
			for i, field := range []*pipeline.NoiseField{nil, &near, &far} {
				reduction := []string{"none", "near_field", "far_field"}[i]
				b.Run(fmt.Sprintf("%s/%v dB/%s", noise, ratio, reduction), func(b *testing.B) {
					wrong, words := 0, 0
					for i, p := range caller {
						x, err := noisy(p, others, noise, ratio, uint64(i), reducer, field)
						if err != nil {
							b.Fatal(err)
						}
						text, err := recognise(b.Context(), ears, x)
						if err != nil {
							b.Fatalf("%s: %v", p.Name, err)
						}
						n, of := human.WrongWords(p.Text, text)
						wrong, words = wrong+n, words+of
					}
					figures.Share(b, "wrong-words", wrong, words)
				})
			}
		}
	}
}

// noisy returns a prompt in noise as the recogniser gets it: through noise reduction, if field is not nil, as in a call.
func noisy(p human.Sentence, others []human.Sentence, noise string, ratio float64, seed uint64, reducer pipeline.NoiseReducer, field *pipeline.NoiseField) ([]float32, error) {
	random := rand.New(rand.NewPCG(3, seed))
	x := make([]float32, noiseFirst+before+len(p.PCM)+after)
	add(x[noiseFirst+before:], p.PCM, 1)
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
