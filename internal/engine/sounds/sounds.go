// Package sounds says what is to be heard in an utterance besides its words: speech, music, a tone, noise or a click.
//
// A [Tagger] is a back end. [Reference] is a small one without a model. It compares spectra: tones and music keep their peaks for
// 100 ms, speech moves them, noise has none, a click is short. It does not know laughter, because laughter is too much like speech for
// such rules. docs/benchmarks.md has its figures, docs/voices.md describes the event for clients.
package sounds

import (
	"context"
	"time"
)

// The names of sounds. A back end may have others.
const (
	Speech = "speech"
	Music  = "music"
	Tone   = "tone"  // a signal of one or two frequencies, such as a dial tone or a key of a telephone
	Noise  = "noise" // a sound without pitch, such as a fan
	Click  = "click" // less than 0.1 s of sound, such as a key stroke
)

// Tag says that a sound is in an utterance, and for how long.
type Tag struct {
	Name   string
	Length time.Duration
}

// Tagger finds the sounds of utterances. It is safe for concurrent use.
type Tagger interface {
	// Tag returns the sounds of an utterance, the longest first; none for silence. pcm is mono at 16 kHz. It returns soon after ctx has ended.
	Tag(ctx context.Context, pcm []float32) ([]Tag, error)
}
