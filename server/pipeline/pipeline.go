package pipeline

import "context"

// Rates of the audio at the edges of the stages, in samples per second. Both are mono.
const (
	InputRate  = 16000 // what a Transcription is written
	OutputRate = 24000 // what a Synthesizer emits
)

// MaxChunk is the longest chunk a Synthesizer emits, in samples at OutputRate: 100 ms.
const MaxChunk = OutputRate / 10

// Stage names, as Component.Stage and StageError.Stage have them.
const (
	StageTranscriber = "transcriber"
	StageModel       = "model"
	StageSynthesizer = "synthesizer"
)

// States of a Component.
const (
	StateReady   = "ready"   // works
	StateLoading = "loading" // will work: Warm has not finished, or has not been called
	StateMissing = "missing" // something is not installed: Install says how to get it
	StateFailed  = "failed"  // installed, but does not work: Detail says why
)

// Pipeline is the three stages of a voice pipeline with the state of its components. All of it is safe for concurrent use by
// many conversations. No field but Prompts is nil in a Pipeline that an adapter returns.
type Pipeline struct {
	Name        string
	Transcriber Transcriber
	Model       Model
	Synthesizer Synthesizer
	// Prompts are the stored prompts that a session may name, by id; nil for none. They are not changed any more.
	Prompts map[string]Prompt

	// Close ends everything the pipeline runs and joins it. It is idempotent. Calls that still run end with an error.
	Close func() error
	// Components gives the state of each component at this moment, in the order of the stages. It does not block.
	Components func() []Component
	// Warm loads what takes time to load and returns when that is done. A component that is missing is not an error of Warm;
	// one that is there and does not come up is, as a *StageError. It may be called again, and by several at once.
	Warm func(ctx context.Context) error
}

// Component is one part of a pipeline as a person sees it: in the page's list, in the log, in `antiphon doctor`.
type Component struct {
	Stage   string `json:"stage"`             // StageTranscriber, StageModel or StageSynthesizer
	Name    string `json:"name"`              // what does the work, such as "pocketsphinx"
	State   string `json:"state"`             // StateReady, StateLoading, StateMissing or StateFailed
	Detail  string `json:"detail,omitempty"`  // a version, a model, or what is wrong
	Install string `json:"install,omitempty"` // the command that gets it; only when missing
}

// Prompt is a stored text that stands in place of a session's instructions.
type Prompt struct {
	Version string
	Text    string // {{name}} is replaced by the variable of that name
}
