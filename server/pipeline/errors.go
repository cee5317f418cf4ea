package pipeline

import "errors"

// Errors that a caller may want to tell apart. Adapters wrap them.
var (
	// ErrUnavailable: the stage cannot work here, now or at all (a package is missing, a back end does not come up).
	ErrUnavailable = errors.New("unavailable")
	// ErrBusy: the stage works, but as many calls as it takes are running. Try again.
	ErrBusy = errors.New("busy")
	// ErrNoLive: the engine has no live results. Open again without Live.
	ErrNoLive = errors.New("no live transcription")
	// ErrOverrun: audio comes faster than the engine takes it, and the buffer is full.
	ErrOverrun = errors.New("audio buffer is full")
	// ErrClosed: the transcription takes no more audio.
	ErrClosed = errors.New("closed")
	// ErrMaxTokens: the answer was cut at Request.MaxOutputTokens ("incomplete", reason "max_output_tokens").
	ErrMaxTokens = errors.New("answer was cut at the output token limit")
	// ErrUnknownVoice: there is no such voice. The error around it lists those there are.
	ErrUnknownVoice = errors.New("unknown voice")
	// ErrTooLong: a text is longer than the stage takes.
	ErrTooLong = errors.New("too long")
)

// StageError is a failure of one stage. Its text is fit for a person.
type StageError struct {
	Stage string // StageTranscriber, StageModel or StageSynthesizer
	Err   error
	Hint  string // what to do about it, such as a command; may be empty
}

// Error is "stage: cause (hint)".
func (e *StageError) Error() string {
	s := e.Stage + ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives the cause.
func (e *StageError) Unwrap() error { return e.Err }
