package main

// This file measures recognisers.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	before  = 300 * time.Millisecond // silence before the speech
	after   = 500 * time.Millisecond // silence after which a turn ends
	chunk   = 100 * time.Millisecond // what a recogniser gets at a time
	longest = 15 * time.Second       // longest prompt
	finish  = 30 * time.Second       // longest wait for a final text
	audible = 328                    // -40 dBFS
)

// prompt is a sentence that a person speaks.
type prompt struct {
	name, text string
	pcm        []float32 // with the silence before and after
}

func (p prompt) duration() time.Duration { return samples(len(p.pcm)) }

func (p prompt) words() int { return len(human.Words(p.text)) }

// samples returns the duration of n samples.
func samples(n int) time.Duration { return time.Duration(n) * time.Second / human.Rate }

// choose returns the prompts that the options ask for, in the order of their names: of at least four words and at most 15 s, without sounds.
func choose(o options) ([]prompt, error) {
	texts, err := human.Texts()
	if err != nil {
		return nil, err
	}
	var all []prompt
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text, initial := texts[name], strings.ToLower(path.Base(name))[0]
		if initial < o.first || initial > o.end || strings.ContainsAny(text, "[<") || len(strings.Fields(text)) < 4 || strings.HasPrefix(name, "letters/") {
			continue
		}
		said, err := human.Prompt(name)
		if errors.Is(err, human.ErrNotInstalled) {
			continue // some texts have no recording
		}
		if samples(len(said)) <= longest {
			all = append(all, prompt{name, text, turn(said)})
		}
	}
	if len(all) == 0 {
		return nil, human.ErrNotInstalled
	}
	if o.n == 0 || o.n >= len(all) {
		return all, nil
	}
	some := make([]prompt, o.n)
	for i := range some {
		some[i] = all[i*len(all)/o.n]
	}
	return some, nil
}

// turn returns the speech as a recogniser gets it: with silence before it, up to the end of the turn.
func turn(said []int16) []float32 {
	end := len(said)
	for end > 0 && said[end-1] < audible && said[end-1] > -audible {
		end--
	}
	rate := func(d time.Duration) int { return int(d * human.Rate / time.Second) }
	pcm := voice.PCM16ToFloat(make([]float32, rate(before)), said[:end])
	return append(pcm, make([]float32, rate(after))...)
}

// understood is what a recogniser made of one prompt.
type understood struct {
	text    string
	caption time.Duration // from the begin of the audio to the first caption; 0 for none
	final   time.Duration // from the end of the turn to the final text
}

const recognitionHead = `| recogniser | word errors | at most one wrong word | first caption, p50 / p95 | final text, p50 / p95 | processor time for 1 s | memory | ready after |
|---|---|---|---|---|---|---|---|`

// measureRecogniser prints the row of a recogniser.
func measureRecogniser(ctx context.Context, e engine, o options, prompts []prompt) (err error) {
	s, err := e.recogniser(o.models, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	start, err := ready(ctx, s)
	if err != nil {
		return err
	}
	used := processorTime()
	wrong, words, good := 0, 0, 0
	var length time.Duration
	var captions, finals []time.Duration
	for _, p := range prompts {
		heard, err := recognise(ctx, s.Impl, p.pcm)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		n, of := human.WrongWords(p.text, heard.text)
		wrong, words, length = wrong+n, words+of, length+p.duration()
		if n <= 1 {
			good++
		}
		if heard.caption > 0 {
			captions = append(captions, heard.caption)
		}
		finals = append(finals, heard.final)
	}
	used = processorTime() - used
	fmt.Printf("| %s | %.1f %% of %d | %d of %d | %s | %s | %d ms | %d MB | %.1f s |\n", title(e, s.Component()),
		100*float64(wrong)/float64(words), words, good, len(prompts), middle(captions), middle(finals),
		int(1000*used.Seconds()/length.Seconds()), memory()>>20, start.Seconds())
	return nil
}

// recognise speaks to a recogniser, at the speed of speech.
func recognise(ctx context.Context, r pipeline.Transcriber, pcm []float32) (heard understood, err error) {
	ctx, cancel := context.WithTimeout(ctx, samples(len(pcm))+finish)
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
			next.Reset(time.Until(began.Add(samples(at))))
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

// middle returns the 50th and the 95th percentile as text.
func middle(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d / %d ms", percentile(all, 50).Milliseconds(), percentile(all, 95).Milliseconds())
}

// percentile returns a percentile of times, of which there is at least one.
func percentile(all []time.Duration, percent int) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, len(all)*percent/100)]
}
