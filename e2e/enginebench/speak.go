package main

// This file measures synthesizers.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// clauses are what the synthesizers speak.
var clauses = []string{"Hello there!", "The weather in Oslo is fine.", "I can count, tell you the time, and repeat what you say."}

// utterance bounds the work for one clause.
const utterance = time.Minute

const voiceHead = `| synthesizer | first audio of a clause, p50 / p95 | speech | real-time factor | processor time for 1 s | memory | ready after |
|---|---|---|---|---|---|---|`

// measureVoice prints the row of a synthesizer.
func measureVoice(ctx context.Context, e engine, o options) (err error) {
	s, err := e.voice(o.models)
	if err != nil {
		return err
	}
	if s.Close != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	start, err := ready(ctx, s)
	if err != nil {
		return err
	}
	used := processorTime()
	var length, work time.Duration
	firsts := make([][]time.Duration, len(clauses))
	for range o.rounds {
		for i, text := range clauses {
			first, whole, spoken, err := speak(ctx, s.Impl, text)
			if err != nil {
				return err
			}
			firsts[i], work, length = append(firsts[i], first), work+whole, length+spoken
		}
	}
	used = processorTime() - used
	var first []string
	for i, text := range clauses {
		first = append(first, fmt.Sprintf("%d words: %s", len(strings.Fields(text)), middle(firsts[i])))
	}
	held := "only while it speaks"
	if m := memory(); m > 0 {
		held = fmt.Sprintf("%d MB", m>>20)
	}
	fmt.Printf("| %s | %s | %.1f s | %.2f | %d ms | %s | %.1f s |\n", title(e, s.Component()), strings.Join(first, "; "), length.Seconds(),
		work.Seconds()/length.Seconds(), int(1000*used.Seconds()/length.Seconds()), held, start.Seconds())
	return nil
}

// speak returns when the first audio of a text came, when the last, and how long the speech is.
func speak(ctx context.Context, s pipeline.Synthesizer, text string) (first, whole, spoken time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, utterance)
	defer cancel()
	began, n := time.Now(), 0
	err = s.Synthesize(ctx, pipeline.Utterance{Text: text}, func(pcm []int16) error {
		if n == 0 {
			first = time.Since(began)
		}
		n += len(pcm)
		return nil
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("no speech for %q", text)
	}
	return first, time.Since(began), time.Duration(n) * time.Second / pipeline.OutputRate, err
}
