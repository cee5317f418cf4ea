package session

// A fake recogniser whose results depend on the amount of audio alone.

import (
	"cmp"
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// afterSound is a recogniser that returns its words as soon as it has got a given amount of audio, whatever the audio is.
type afterSound struct {
	words string
	after time.Duration
	final string // the transcript; "" takes words
}

// pipeline returns a plain pipeline with that recogniser.
func (a afterSound) pipeline() *pipeline.Pipeline {
	p := plain()
	p.Transcriber = a
	return p
}

// Open implements pipeline.Transcriber.
func (a afterSound) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return &utterance{afterSound: a, results: make(chan pipeline.TranscriptResult, 2)}, nil
}

type utterance struct {
	afterSound
	results chan pipeline.TranscriptResult
	sound   int
	told    bool
}

// Write implements pipeline.Transcription.
func (u *utterance) Write(pcm []float32) error {
	if voice.RMS(pcm) > 0.01 {
		u.sound += len(pcm)
	}
	if !u.told && time.Duration(u.sound)*time.Second/pipeline.InputRate >= u.after {
		u.told = true
		u.results <- pipeline.TranscriptResult{Partial: u.words}
	}
	return nil
}

// CloseInput implements pipeline.Transcription.
func (u *utterance) CloseInput() error {
	u.results <- pipeline.TranscriptResult{Final: true, Text: cmp.Or(u.final, u.words)}
	return nil
}

// Results implements pipeline.Transcription.
func (u *utterance) Results() <-chan pipeline.TranscriptResult { return u.results }

// Close implements pipeline.Transcription.
func (u *utterance) Close() error { return nil }
