package backend

// This file has the interface that a speech engine implements, and its errors.

import (
	"context"
	"errors"
	"time"
)

// Engine recognises speech. It runs in a back-end process (Serve) or in the server's process (InProcess).
type Engine interface {
	// Open starts an utterance. Serve closes an utterance before it opens the next one. Open returns ErrUnimplemented when the
	// engine does not support c.
	Open(ctx context.Context, c Config) (Stream, error)
	// Info describes the engine.
	Info() Info
	// Close ends the engine. The caller has closed all streams before.
	Close() error
}

// Stream is one utterance. One goroutine calls its methods. Each method returns soon after its context is done.
type Stream interface {
	// Feed takes the next samples (mono, 16 kHz, [-1, 1]) and returns the present partial result. The callee may use the slice
	// only during the call.
	Feed(ctx context.Context, pcm []float32) (Update, error)
	// Finish returns the result of the whole utterance. No Feed follows.
	Finish(ctx context.Context) (Result, error)
	// Close releases the utterance, whether it is finished or not.
	Close() error
}

// Announcer is a Stream whose partial results come at any time, and not only when Feed returns. An engine that waits for a server
// implements it. Only InProcess asks for it; its Feed then returns the zero Update.
type Announcer interface {
	// Announce says where partial results go. It is called once, before Feed, if the caller wants partial results. The stream may
	// call show from any goroutine, until Finish or Close returns.
	Announce(show func(Update))
}

// Info describes an engine.
type Info struct {
	Name   string `json:"name"`             // such as "sherpa"
	Detail string `json:"detail,omitempty"` // version, model
	Live   bool   `json:"live"`             // the engine has partial results
	Probs  bool   `json:"probs,omitempty"`  // the engine knows the probabilities of words
	Ends   bool   `json:"ends,omitempty"`   // the engine has boundaries
	Times  bool   `json:"times,omitempty"`  // the engine knows the times of words
	Rate   int    `json:"rate,omitempty"`   // of the audio of a Speaker, in samples a second
}

// Config is the configuration of one utterance.
type Config struct {
	Model    string `json:"model,omitempty"`    // which model; empty: the default of the engine
	Language string `json:"language,omitempty"` // ISO 639-1; empty: the default of the engine
	Prompt   string `json:"prompt,omitempty"`   // words to expect
	Live     bool   `json:"live"`               // the server wants partial results
	Words    bool   `json:"words,omitempty"`    // the server wants the times of words
}

// Boundary says what has ended in the speech.
type Boundary uint8

// The boundaries.
const (
	NoBoundary       Boundary = iota
	EndOfUtterance            // the user seems to have finished
	EndOfBackchannel          // the speech was only an acknowledgement such as "uh-huh"
)

// Update is a partial result.
type Update struct {
	Partial  string // the whole text so far
	Boundary Boundary
	// Through says of how much of the audio Partial is the text, from the begin of the utterance on; 0: not known.
	Through time.Duration
}

// Word is one word of a result. Its times count from the begin of the utterance.
type Word struct {
	Text    string  `json:"text"`
	StartMS int     `json:"start_ms"`
	EndMS   int     `json:"end_ms"`
	Prob    float64 `json:"prob,omitempty"`    // 0..1; 0: not known
	Speaker string  `json:"speaker,omitempty"` // who said it; empty: not known
}

// Result is the final result of an utterance.
type Result struct {
	Text     string
	Boundary Boundary
	Words    []Word
}

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
