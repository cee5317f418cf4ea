package pipeline

// This file has the pipeline as a whole: its stages, its components and their states.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
)

// Sample rates of the audio that goes into and comes out of the stages, in Hz. Both are mono.
const (
	InputRate  = 16000 // audio for a Transcription
	OutputRate = 24000 // audio of a Synthesizer
)

// MaxChunk is the longest chunk that a Synthesizer emits, in samples at OutputRate: 100 ms.
const MaxChunk = OutputRate / 10

// Names of the stages, in Component.Stage and StageError.Stage.
const (
	StageTranscriber = "transcriber"
	StageModel       = "model"
	StageSynthesizer = "synthesizer"
	// StageNoiseReduction is optional.
	StageNoiseReduction = "noise_reduction"
	// StageRetranscriber is optional: it is Pipeline.Retranscriber.
	StageRetranscriber = "utterance_gate"
	// StageSounds is optional.
	StageSounds = "sound_events"
	// StageEndOfTurn is optional.
	StageEndOfTurn = "end_of_turn"
	// StageVoiceGate is optional.
	StageVoiceGate = "voice_gate"
)

// States of a Component.
const (
	StateReady   = "ready"   // the component works
	StateLoading = "loading" // Warm has not returned yet, or was not called
	StateMissing = "missing" // something is not installed; Install has the command that installs it
	StateFailed  = "failed"  // the component is installed and does not work; Detail says why
)

// The types of the fields of Pipeline whose packages are internal; these names are what a program uses.
type (
	// Estimator says how probable it is that a silent user has finished the turn.
	Estimator = endofturn.Estimator
	// Languages are languages of the program's own.
	Languages = endofturn.Own
	// Tagger says which sounds are in an utterance.
	Tagger = sounds.Tagger
)

// Pipeline has the three stages of a voice pipeline and the state of their components. Many conversations may use it at the same
// time. An adapter returns a Pipeline in which at most Prompts, Speakable, Noise, Gate, Sounds, EndOfTurn and Retranscriber are nil.
type Pipeline struct {
	Name        string
	Transcriber Transcriber
	Model       Model
	Synthesizer Synthesizer
	// Prompts are the stored prompts that a session may name, by id; nil for none. Nobody may change them.
	Prompts map[string]Prompt
	// Speakable returns a function for one response. The function turns the clauses of the response, in their order, into the text
	// that the Synthesizer gets: without Markdown, for example. It returns the empty text for a clause with nothing to say. nil: the
	// Synthesizer gets the clauses as the Model wrote them. Package speakable has such functions.
	Speakable func() func(clause string) string

	// Noise reduces the noise in the user's audio, for sessions that ask for it; nil if nothing does. ReduceNoise sets it.
	Noise NoiseReducer

	// EndOfTurn returns the estimator that judges, for semantic_vad, whether the user has finished a turn in a language (empty: not known). nil:
	// only the Transcriber reports ends.
	EndOfTurn func(language string) Estimator
	// Languages are further languages, for the decision about barge-ins; nil for none. SetLanguages sets Languages and EndOfTurn.
	Languages Languages
	// EndJudge judges the sound of turns for EndOfTurn; nil for none. JudgeEnds sets it.
	EndJudge EndJudge

	// Gate lets only authorised people speak to the model; nil lets everybody.
	Gate *VoiceGate

	// Sounds says which sounds are in an utterance, for clients that ask for it; nil if nothing does.
	Sounds Tagger

	// Retranscriber recognises each utterance of a semantic_vad turn again as a whole, at its end; nil: nothing does. If it finds an end, too, its text is
	// the transcript; otherwise the turn goes on. It may be the Transcriber. Close closes only the Transcriber.
	Retranscriber Transcriber

	// Close ends all goroutines and processes of the pipeline and waits for them. Calls of stages that still run return an
	// error. Close may be called again.
	Close func() error
	// Components returns the present state of each component, in the order of the stages. It does not block.
	Components func() []Component
	// Warm loads what takes time to load and returns when all is loaded. It returns a *StageError for a component that is
	// installed and does not start. A component that is missing is no error. Warm may be called again, and by several
	// goroutines at a time.
	Warm func(ctx context.Context) error
}

// SetLanguages gives the pipeline further languages, or replaces built-in ones. Only one goroutine may call it, before the pipeline is
// used, and before JudgeEnds.
func (p *Pipeline) SetLanguages(own Languages) {
	p.Languages = own
	if p.EndOfTurn != nil {
		p.EndOfTurn = own.New
	}
}

// Reader returns the function of Speakable for one response, or one that changes nothing if there is none.
func (p *Pipeline) Reader() func(clause string) string {
	if p.Speakable == nil {
		return func(clause string) string { return clause }
	}
	return p.Speakable()
}

// Component describes one part of a pipeline to a user: on the Talk page, in the log and in `antiphon doctor`.
type Component struct {
	Stage   string `json:"stage"`             // one of the Stage constants
	Name    string `json:"name"`              // name of the engine, such as "sherpa"
	State   string `json:"state"`             // StateReady, StateLoading, StateMissing or StateFailed
	Detail  string `json:"detail,omitempty"`  // version, model, or what does not work
	Install string `json:"install,omitempty"` // command that installs it; only with StateMissing
}

// Prompt is a stored text that replaces the instructions of a session.
type Prompt struct {
	Version string
	Text    string // {{name}} is replaced by the variable with this name
}
