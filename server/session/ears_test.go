package session

import (
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/voice"
)

// ears understand words once they have heard so much of any sound.
type ears struct {
	words string
	after time.Duration
}

// hearing is a plain pipeline with those ears.
func (e ears) pipeline() *pipeline.Pipeline {
	p := plain()
	p.Transcriber = e
	return p
}

// Open implements pipeline.Transcriber.
func (e ears) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return &utterance{ears: e, results: make(chan pipeline.TranscriptResult, 2)}, nil
}

type utterance struct {
	ears
	results chan pipeline.TranscriptResult
	heard   int
	told    bool
}

// Write implements pipeline.Transcription.
func (u *utterance) Write(pcm []float32) error {
	if voice.RMS(pcm) > 0.01 {
		u.heard += len(pcm)
	}
	if !u.told && time.Duration(u.heard)*time.Second/pipeline.InputRate >= u.after {
		u.told = true
		u.results <- pipeline.TranscriptResult{Partial: u.words}
	}
	return nil
}

// CloseInput implements pipeline.Transcription.
func (u *utterance) CloseInput() error {
	u.results <- pipeline.TranscriptResult{Final: true, Text: u.words}
	return nil
}

// Results implements pipeline.Transcription.
func (u *utterance) Results() <-chan pipeline.TranscriptResult { return u.results }

// Close implements pipeline.Transcription.
func (u *utterance) Close() error { return nil }
