package pipeline

import (
	"context"
	"time"
)

// Transcriber turns speech into text, one Transcription an utterance.
type Transcriber interface {
	// Open starts a transcription. The context rules its whole life: when it is done the transcription ends with an error
	// result. Errors wrap ErrUnavailable when nothing can transcribe, ErrBusy when too many run already, and ErrNoLive when
	// c.Live is asked of an engine that has no partial results.
	Open(ctx context.Context, c TranscribeConfig) (Transcription, error)
}

// TranscribeConfig is what one transcription is asked for. Empty fields mean the engine's own choice.
type TranscribeConfig struct {
	Model    string // which model
	Language string // ISO 639-1, such as "en"
	Prompt   string // words to expect
	Live     bool   // partial results, end of utterance and backchannel are wanted
}

// WordScorer is a Transcriber that may know how sure it is.
type WordScorer interface {
	// Scores reports whether the words of a final result have a Prob.
	Scores() bool
}

// ConfigNegotiator is a Transcriber that says beforehand what it can do.
type ConfigNegotiator interface {
	// NegotiateConfig returns c as it will be done: what makes no difference comes back empty. Its error says what cannot be done, and
	// what could. It does not block.
	NegotiateConfig(c TranscribeConfig) (TranscribeConfig, error)
}

// Transcription is one utterance on its way to text. Write and CloseInput are called by one goroutine at a time; Close may be
// called by any, at any time.
type Transcription interface {
	// Write takes mono samples at InputRate in [-1, 1]. It never waits for the engine: what the engine has not taken yet is
	// kept in a bounded buffer, and ErrOverrun says that it is full (those samples are lost, the transcription goes on).
	// After CloseInput or Close it returns ErrClosed.
	Write(pcm []float32) error
	// CloseInput says that no more audio comes: Results then ends with the final result.
	CloseInput() error
	// Results is closed after the final result or an error result. The reader must drain it, or Close.
	Results() <-chan TranscriptResult
	// Close abandons the transcription and joins everything that it runs. It is idempotent, and due after a final result too.
	Close() error
}

// TranscriptResult is one thing a Transcription has to say. Exactly one result of each transcription that is not closed
// early is the last: it has Final set, or Err.
type TranscriptResult struct {
	Partial     string // the whole text so far; replaces every earlier one
	EOU         bool   // end of utterance: the person seems to have finished
	Backchannel bool   // the speech was only an acknowledgement such as "uh-huh"
	Final       bool   // Text is the transcript (which may be empty) and this is the last result
	Text        string
	Words       []Word // of Text, with a final result, where the engine knows them
	Err         error  // the transcription failed and this is the last result
}

// Word is one word of a transcript.
type Word struct {
	Text       string
	Start, End time.Duration // from the begin of the utterance's audio
	Speaker    string        // who said it; empty where speakers are not told apart
	Prob       float64       // how sure that is, above 0 and up to 1; 0 where it is not known
}
