package enginebench

// This file measures recognisers.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	before  = 300 * time.Millisecond // silence before the speech
	after   = 500 * time.Millisecond // silence after which a turn ends
	chunk   = 100 * time.Millisecond // what a recogniser gets at a time
	finish  = 30 * time.Second       // longest wait for a final text
	audible = 328.0 / 32768          // -40 dBFS
)

// turn returns the speech as a recogniser gets it: with silence before it, up to the end of the turn.
func turn(said []float32) []float32 {
	end := len(said)
	for end > 0 && said[end-1] < audible && said[end-1] > -audible {
		end--
	}
	rate := func(d time.Duration) int { return int(d * human.Rate / time.Second) }
	pcm := append(make([]float32, rate(before)), said[:end]...)
	return append(pcm, make([]float32, rate(after))...)
}

// understood is what a recogniser made of one prompt.
type understood struct {
	text    string
	caption time.Duration // from the begin of the audio to the first caption; 0 for none
	final   time.Duration // from the end of the turn to the final text
}

// BenchmarkRecogniser speaks the prompts, one after another.
func BenchmarkRecogniser(b *testing.B) {
	prompts := prompts(b)
	r, start := recogniser(b, 1)
	used := processorTime()
	wrong, words, good := 0, 0, 0
	var length time.Duration
	var captions, finals []time.Duration
	for _, p := range prompts {
		pcm := turn(p.PCM)
		heard, err := recognise(b.Context(), r, pcm)
		if err != nil {
			b.Fatalf("%s: %v", p.Name, err)
		}
		n, of := human.WrongWords(p.Text, heard.text)
		wrong, words, length = wrong+n, words+of, length+human.Duration(len(pcm))
		if n <= 1 {
			good++
		}
		if heard.caption > 0 {
			captions = append(captions, heard.caption)
		}
		finals = append(finals, heard.final)
	}
	used = processorTime() - used
	figures.Count(b, "words", words)
	figures.Share(b, "word-errors", wrong, words)
	figures.Share(b, "at-most-one-wrong-word", good, len(prompts))
	figures.Times(b, "first-caption", captions, 50, 95)
	figures.Times(b, "final-text", finals, 50, 95)
	b.ReportMetric(1000*used.Seconds()/length.Seconds(), "processor-ms/s")
	figures.Count(b, "MB", int(memory()>>20))
	b.ReportMetric(start.Seconds(), "ready-after-s")
}

// recognise speaks to a recogniser, at the speed of speech.
func recognise(ctx context.Context, r pipeline.Transcriber, pcm []float32) (heard understood, err error) {
	ctx, cancel := context.WithTimeout(ctx, human.Duration(len(pcm))+finish)
	defer cancel()
	t, err := r.Open(ctx, pipeline.TranscribeConfig{Live: true})
	if err != nil {
		return heard, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	began := time.Now()
	var closed time.Time
	next := time.NewTimer(0)
	defer next.Stop()
	for at := 0; ; {
		select {
		case <-next.C:
			if at == len(pcm) {
				closed = time.Now()
				if err := t.CloseInput(); err != nil {
					return heard, err
				}
				continue
			}
			to := min(len(pcm), at+int(chunk*human.Rate/time.Second))
			if err := t.Write(pcm[at:to]); err != nil {
				return heard, err
			}
			at = to
			next.Reset(time.Until(began.Add(human.Duration(at))))
		case result := <-t.Results():
			switch {
			case result.Err != nil:
				return heard, result.Err
			case result.Final:
				heard.text, heard.final = result.Text, time.Since(closed)
				return heard, nil
			case result.Partial != "" && heard.caption == 0:
				heard.caption = time.Since(began)
			}
		case <-ctx.Done():
			return heard, ctx.Err()
		}
	}
}
