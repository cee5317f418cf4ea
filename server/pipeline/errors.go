package pipeline

// This file has the errors of the stages.

import "errors"

// Errors that callers distinguish. Adapters wrap them.
var (
	// ErrUnavailable: the stage cannot work on this machine, for example because a package is missing or a back end does not start.
	ErrUnavailable = errors.New("unavailable")
	// ErrBusy: the stage works, and as many calls as it allows run already. Try again.
	ErrBusy = errors.New("busy")
	// ErrNoLive: the engine has no live results. Open again without Live.
	ErrNoLive = errors.New("no live transcription")
	// ErrOverrun: audio comes faster than the engine takes it, and the buffer is full.
	ErrOverrun = errors.New("audio buffer is full")
	// ErrClosed: the transcription takes no more audio, because its input or the transcription is closed.
	ErrClosed = errors.New("closed")
	// ErrMaxTokens: the answer was cut at Request.MaxOutputTokens ("incomplete", reason "max_output_tokens").
	ErrMaxTokens = errors.New("answer was cut at the output token limit")
	// ErrUnknownVoice: the synthesizer does not have this voice. The error that wraps it lists the voices that it has.
	ErrUnknownVoice = errors.New("unknown voice")
	// ErrTooLong: a text is longer than the stage allows.
	ErrTooLong = errors.New("too long")
)

// StageError is a failure of one stage, in words for a user.
type StageError struct {
	Stage string // one of the Stage constants
	Err   error
	Hint  string // what the user can do, such as a command; may be empty
}

// Error returns "stage: cause (hint)".
func (e *StageError) Error() string {
	s := e.Stage + ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *StageError) Unwrap() error { return e.Err }
