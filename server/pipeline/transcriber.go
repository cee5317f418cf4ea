package pipeline

// This file has the interface of the stage that recognises speech.

import (
	"context"
	"time"
)

// Transcriber is the recogniser: it turns speech into text, with one Transcription for each turn. Open may be called by several
// goroutines at a time.
type Transcriber interface {
	// Open starts a transcription. When ctx is done, even after Open has returned, the transcription ends with an error result.
	// Open returns an error that wraps ErrUnavailable when no engine can transcribe, ErrBusy when too many transcriptions run, and
	// ErrNoLive when c.Live is set and the engine has no partial results.
	Open(ctx context.Context, c TranscribeConfig) (Transcription, error)
}

// TranscribeConfig is the configuration of one transcription. An empty field means the default of the engine.
type TranscribeConfig struct {
	Model    string // which model
	Language string // ISO 639-1, such as "en"
	Prompt   string // words to expect
	Live     bool   // return partial results, EOU and Backchannel too
	Words    bool   // return the Words of the final result with their times; an engine that does not know them clears it in NegotiateConfig
}

// WordScorer is a Transcriber that says whether it knows the probabilities of words.
type WordScorer interface {
	// Scores reports whether the words of final results have a Prob.
	Scores() bool
}

// EndReporter is a Transcriber that says whether its results have EOU. For other recognisers the session estimates the ends itself:
// see Pipeline.EndOfTurn.
type EndReporter interface {
	// ReportsEnds reports whether EOU is set at the ends of utterances.
	ReportsEnds() bool
}

// ConfigNegotiator is a Transcriber that says in advance which configurations it supports.
type ConfigNegotiator interface {
	// NegotiateConfig returns c with only the fields that have an effect; the others are empty. For a configuration that is not
	// supported it returns an error that says what is. It does not block.
	NegotiateConfig(c TranscribeConfig) (TranscribeConfig, error)
}

// Transcription turns the audio of one turn into text. Only one goroutine at a time may call Write and CloseInput. Any goroutine
// may call Close at any time.
type Transcription interface {
	// Write takes mono samples at InputRate in [-1, 1]. It does not wait for the engine: it puts the samples into a buffer with a
	// limit. If the buffer is full, Write returns ErrOverrun; the samples that did not fit are lost and the transcription goes
	// on. After CloseInput or Close it returns ErrClosed.
	Write(pcm []float32) error
	// CloseInput says that no more audio follows. The final result then comes on Results.
	CloseInput() error
	// Results returns the channel of the results. It is closed after the final result or an error result. The reader must read it
	// to its end or call Close.
	Results() <-chan TranscriptResult
	// Close cancels the transcription and waits for its goroutines. It must be called after a final result, too. It may be called
	// again.
	Close() error
}

// TranscriptResult is one result of a Transcription. The last one has Final or Err set. A Transcription has exactly one such
// result, and none if it is closed early.
type TranscriptResult struct {
	Partial string // the whole text so far; it replaces earlier ones
	// Through says of how much of the audio Partial is the text, from the begin of the audio on; 0: not known.
	Through     time.Duration
	EOU         bool // end of utterance: the user seems to have finished
	Backchannel bool // the speech was only an acknowledgement such as "uh-huh"
	Final       bool // Text is the transcript, which may be empty, and this is the last result
	Text        string
	Words       []Word // the words of Text; only with Final, and only if the engine knows them
	Err         error  // the transcription failed and this is the last result
}

// Word is one word of a transcript.
type Word struct {
	Text       string
	Start, End time.Duration // counted from the begin of the audio
	Speaker    string        // empty if the engine does not distinguish speakers
	Prob       float64       // probability, above 0 and up to 1; 0 if it is not known
}
