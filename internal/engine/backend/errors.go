package backend

// This file has the errors of back ends.

import "errors"

// Errors of back ends. A Transcription wraps them in a *pipeline.StageError.
var (
	// ErrUnimplemented: the engine does not support the configuration.
	ErrUnimplemented = errors.New("not implemented by the engine")
	// ErrCrashed: the back-end process ended during its work.
	ErrCrashed = errors.New("back-end process ended unexpectedly")
	// ErrHung: the back-end process made no progress for too long. It is killed.
	ErrHung = errors.New("back-end process made no progress")
	// ErrProtocol: the other side sent a frame that the protocol does not allow.
	ErrProtocol = errors.New("back-end protocol error")
	// ErrFrameTooLarge: a frame is larger than MaxFrame. Like after ErrProtocol, the connection cannot be used any more.
	ErrFrameTooLarge = errors.New("frame is too large")
)
