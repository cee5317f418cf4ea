package embedded

// Recognisers of a program's own: an engine in this process, or in processes of its own.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

type (
	// Engine recognises speech: it opens a Stream for each utterance.
	Engine = backend.Engine
	// Stream is one utterance. It takes samples and returns the text so far, and at last the result.
	Stream = backend.Stream
	// EngineConfig says how an utterance is recognised.
	EngineConfig = backend.Config
	// EngineInfo describes an engine.
	EngineInfo = backend.Info
	// Update is a partial result.
	Update = backend.Update
	// Result is the final result, with its words if the engine knows them.
	Result = backend.Result
	// Word is one word of a Result.
	Word = backend.Word
	// Pool is a recogniser whose engines run in processes of their own. Its caller closes it.
	Pool = backend.Pool
	// PoolOptions configure a Pool. Command is required.
	PoolOptions = backend.Options
)

// The values of the field Boundary of an Update and of a Result: nothing has ended, an utterance, or a backchannel such as "mm-hm".
const (
	NoBoundary       = backend.NoBoundary
	EndOfUtterance   = backend.EndOfUtterance
	EndOfBackchannel = backend.EndOfBackchannel
)

// ErrUnimplemented is what an Engine returns for an EngineConfig that it does not support.
var ErrUnimplemented = backend.ErrUnimplemented

// InProcess returns a recogniser whose engine runs in this process. The engine must allow several utterances at a time. The caller closes the engine.
func InProcess(e Engine) pipeline.Transcriber { return backend.InProcess(e) }

// NewPool returns a Pool. A process of it begins with the first utterance, or with Warm.
func NewPool(o PoolOptions) *Pool { return backend.NewPool(o) }

// ServeStdio is the process of a Pool: it serves an engine on standard input and output until ctx ends or standard input is closed.
func ServeStdio(ctx context.Context, e Engine) error { return backend.ServeStdio(ctx, e) }

// Speakable returns a value for Pipeline.Speakable: it removes Markdown, links, code and emoji from what the synthesizer gets. With english it also writes symbols,
// units, dates, times and amounts as English words.
func Speakable(english bool) func() func(clause string) string {
	if english {
		return speakable.New(speakable.English)
	}
	return speakable.New(speakable.Any)
}
