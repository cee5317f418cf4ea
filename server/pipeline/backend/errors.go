package backend

import "errors"

// Errors of back ends. A client's transcription wraps them in a *pipeline.StageError.
var (
	// ErrUnimplemented: the engine does not have what the configuration asks for.
	ErrUnimplemented = errors.New("not implemented by the engine")
	// ErrCrashed: the back-end process ended in the middle of its work.
	ErrCrashed = errors.New("back-end process ended unexpectedly")
	// ErrHung: the back-end process made no progress for too long, and was killed.
	ErrHung = errors.New("back-end process made no progress")
	// ErrProtocol: the other side sent what the protocol does not allow.
	ErrProtocol = errors.New("back-end protocol error")
	// ErrFrameTooLarge: a frame is larger than MaxFrame. It wraps ErrProtocol's meaning: the stream cannot be read on.
	ErrFrameTooLarge = errors.New("frame is too large")
)
