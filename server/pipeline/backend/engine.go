package backend

import "context"

// Engine recognises speech. It lives in a back-end process (Serve) or in the server's own (InProcess).
type Engine interface {
	// Open starts an utterance. An engine that takes one utterance at a time may rely on Close of the one before: Serve opens
	// the next only then. Errors: ErrUnimplemented when c asks for what the engine does not have.
	Open(ctx context.Context, c Config) (Stream, error)
	// Info describes the engine.
	Info() Info
	// Close ends the engine, after every stream of it was closed.
	Close() error
}

// Stream is one utterance. Its methods are called by one goroutine; a done context ends each of them soon.
type Stream interface {
	// Feed takes the next samples (mono, 16 kHz, [-1, 1]) and says what is new. The slice is the callee's only during the call.
	Feed(ctx context.Context, pcm []float32) (Update, error)
	// Finish says what the whole utterance is. No Feed follows.
	Finish(ctx context.Context) (Result, error)
	// Close lets go of the utterance, finished or not.
	Close() error
}

// Info describes an engine.
type Info struct {
	Name   string `json:"name"`             // such as "pocketsphinx"
	Detail string `json:"detail,omitempty"` // version, model
	Live   bool   `json:"live"`             // gives partial results
	Probs  bool   `json:"probs,omitempty"`  // gives the words' probabilities
}

// Config is what one utterance is asked for.
type Config struct {
	Model    string `json:"model,omitempty"`    // which model; empty: the engine's own
	Language string `json:"language,omitempty"` // ISO 639-1; empty: the engine's own
	Prompt   string `json:"prompt,omitempty"`   // words to expect
	Live     bool   `json:"live"`               // partial results are wanted
}

// Boundary marks the end of something in the speech.
type Boundary uint8

// The boundaries.
const (
	NoBoundary       Boundary = iota
	EndOfUtterance            // the person seems to have finished (EOU)
	EndOfBackchannel          // it was only a backchannel, such as "uh-huh" (Backchannel)
)

// Update is what is new while the person speaks.
type Update struct {
	Partial  string // the whole text so far
	Boundary Boundary
}

// Word is one word of a result with its time from the begin of the utterance.
type Word struct {
	Text    string  `json:"text"`
	StartMS int     `json:"start_ms"`
	EndMS   int     `json:"end_ms"`
	Prob    float64 `json:"prob,omitempty"`    // 0..1; 0: not known
	Speaker string  `json:"speaker,omitempty"` // who said it; empty: not known
}

// Result is the final word on an utterance.
type Result struct {
	Text     string
	Boundary Boundary
	Words    []Word
}
