package config

// The kinds: one table with all that may stand behind `kind:`. An adapter adds its kind here. The kinds without a file of their own (assistant,
// flite, scripted) have their fields here, too, and Env is what every kind gets.

import (
	"context"
	"log/slog"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// Names of the stages in the file.
const (
	STT = "stt" // speech to text: the recogniser
	LLM = "llm" // the model
	TTS = "tts" // text to speech: the synthesizer
)

// kinds is the table. The first kind of each stage is its default, but the default of the synthesizer is sherpa if this machine has a voice of it. The open
// function of a kind gets the fields as the file has them, in the struct that `fields` returns with their defaults. The tags of that struct give the names, the
// texts of the schema and the bounds (package strict). An open function does not call a server: the stage's Warm does that.
var kinds = []Kind{
	stt("sherpa", "neural recognition on this machine: antiphon models get neural-en", func() *SherpaSTT { return &SherpaSTT{} }, openSherpaSTT),
	stt("openai", "a server with /v1/audio/transcriptions: OpenAI, speaches, vLLM, LocalAI, llama.cpp", func() *OpenAISTT { return &OpenAISTT{} }, openSTT),
	stt("whisper.cpp", "whisper.cpp's server (/inference)", func() *WhisperCPP { return &WhisperCPP{} }, openWhisperCPP),
	stt("openai-realtime", "a server with a Realtime transcription WebSocket: OpenAI, speaches, vLLM, LocalAI, Antiphon", func() *RealtimeSTT { return &RealtimeSTT{} }, openRealtime),
	stt("wyoming", "a Wyoming service: wyoming-faster-whisper and others", func() *WyomingSTT { return &WyomingSTT{} }, openWyomingSTT),
	stt("parakeet", "parakeet.cpp's library on this machine, with a model file of your own", func() *Parakeet { return &Parakeet{} }, openParakeet),
	stt("grpc", "a back end of your own over gRPC, in any language", func() *GRPC { return &GRPC{} }, openGRPC),
	stt("scripted", "a deterministic recogniser for tests", func() *Scripted { return &Scripted{} }, scriptedSTT),

	llm("assistant", "the small built-in assistant: no language model", func() *Assistant { return &Assistant{} }, openAssistant),
	llm("openai", "a server with /v1/chat/completions: Ollama, vLLM, llama.cpp, LM Studio, LocalAI, OpenAI", func() *OpenAILLM { return &OpenAILLM{} }, openChat),
	llm("openai-responses", "a server with /v1/responses", func() *OpenAILLM { return &OpenAILLM{} }, openResponses),
	llm("scripted", "a deterministic model for tests", func() *Scripted { return &Scripted{} }, scriptedLLM),

	tts("flite", "flite on this machine: English", func() *Flite { return &Flite{} }, openFlite),
	tts("openai", "a server with /v1/audio/speech: OpenAI, Kokoro-FastAPI, speaches, LocalAI", func() *OpenAITTS { return &OpenAITTS{} }, openSpeech),
	tts("piper", "Piper's HTTP server", func() *Piper { return &Piper{} }, openPiper),
	tts("wyoming", "a Wyoming service: wyoming-piper and others", func() *WyomingTTS { return &WyomingTTS{} }, openWyomingTTS),
	tts("sherpa", "a neural voice on this machine: antiphon models get neural-en", func() *SherpaTTS { return &SherpaTTS{} }, openSherpaTTS),
	tts("scripted", "a deterministic synthesizer for tests: it speaks in tones", func() *Scripted { return &Scripted{} }, scriptedTTS),
}

// Env is what the constructors of stages get beside the fields of the file.
type Env struct {
	// Logger gets warnings and errors. nil discards them.
	Logger *slog.Logger
	// Getenv returns an environment variable; nil means os.Getenv.
	Getenv func(name string) string
	// RecogniserProcesses limits the processes of a recogniser that runs on this machine, where the file does not say; 0 takes the
	// recogniser's own limit.
	RecogniserProcesses int
}

// Assistant has the fields of kind assistant: none.
type Assistant struct{}

func openAssistant(context.Context, *Assistant, Env) (pipeline.Stage[pipeline.Model], error) {
	return embedded.Assistant(embedded.Options{}), nil
}

// Flite has the fields of kind flite.
type Flite struct {
	Path  string `yaml:"path" type:"path" doc:"The program flite; without it, the PATH is searched."`
	Voice string `yaml:"voice" doc:"The synthesis voice of a session that asks for none: slt, rms, awb, kal16, or a name of the protocol such as alloy."`
}

func openFlite(_ context.Context, c *Flite, _ Env) (pipeline.Stage[pipeline.Synthesizer], error) {
	return embedded.Synthesizer(embedded.Options{Flite: c.Path}), nil
}

// Scripted has the fields of kind scripted.
type Scripted struct {
	Script string `yaml:"script" type:"existingfile" doc:"A script as in docs/pipelines.md; without it, the default behaviour."`
}

func (c *Scripted) options() (o scripted.Options, err error) {
	if c.Script != "" {
		o.Script, err = scripted.LoadScript(c.Script)
	}
	return o, err
}

func scriptedSTT(_ context.Context, c *Scripted, _ Env) (pipeline.Stage[pipeline.Transcriber], error) {
	o, err := c.options()
	return scripted.Recogniser(o), err
}

func scriptedLLM(_ context.Context, c *Scripted, _ Env) (pipeline.Stage[pipeline.Model], error) {
	o, err := c.options()
	return scripted.Model(o), err
}

func scriptedTTS(_ context.Context, c *Scripted, _ Env) (pipeline.Stage[pipeline.Synthesizer], error) {
	o, err := c.options()
	return scripted.Synthesizer(o), err
}
