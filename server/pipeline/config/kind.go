package config

// What a row of the table of kinds is.

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Kind is one way to do a stage.
type Kind struct {
	Stage string // STT, LLM or TTS
	Name  string // the value of `kind` in the file
	Doc   string // what it is, in a few words

	fields func() any // returns a pointer to a struct with the defaults
	open   func(ctx context.Context, fields any, e Env) (opened any, err error)
}

// Kinds returns all kinds of a stage. kinds.go says which is the default.
func Kinds(stage string) []Kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k.Stage != stage })
}

// kindOf returns the kind of a stage with that name; "" is the first one. It returns nil if there is none.
func kindOf(stage, name string) *Kind {
	for i, k := range kinds {
		if k.Stage == stage && (k.Name == name || name == "") {
			return &kinds[i]
		}
	}
	return nil
}

// servers are names of programs that people take for kinds, without case and punctuation, and what to write instead, with the usual address.
var servers = []struct{ names, stages, kind, url string }{
	{"ollama", "llm", "openai", "http://localhost:11434/v1"},
	{"lmstudio", "llm", "openai", "http://localhost:1234/v1"},
	{"vllm", "stt llm", "openai", "http://localhost:8000/v1"},
	{"llamacpp llama llamaserver", "stt llm", "openai", "http://localhost:8080/v1"},
	{"localai", "stt llm tts", "openai", "http://localhost:8080/v1"},
	{"litellm", "stt llm tts", "openai", "http://localhost:4000/v1"},
	{"speaches", "stt tts", "openai", "http://localhost:8000/v1"},
	{"fasterwhisper fasterwhisperserver", "stt", "openai", "http://localhost:8000/v1"},
	{"whisper whispercpp whisperserver", "stt", "whisper.cpp", "http://localhost:8080"},
	{"wyomingfasterwhisper wyomingwhisper", "stt", "wyoming", "tcp://localhost:10300"},
	{"kokoro kokorofastapi", "tts", "openai", "http://localhost:8880/v1"},
	{"wyomingpiper", "tts", "wyoming", "tcp://localhost:10200"},
}

// wrongKind says what to write in place of a kind that is the name of a program; "" if nothing is known of it, or if it is a kind.
func wrongKind(stage, name string) string {
	bare := strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
	for _, s := range servers {
		if slices.Contains(strings.Fields(s.names), bare) && slices.Contains(strings.Fields(s.stages), stage) && kindOf(stage, name) == nil {
			return fmt.Sprintf("use kind: %s with url: %s", s.kind, s.url)
		}
	}
	return ""
}

// stt is a row of the table for a recogniser.
func stt[F any](name, doc string, fields func() *F, open func(context.Context, *F, Env) (pipeline.Stage[pipeline.Transcriber], error)) Kind {
	return row(STT, name, doc, fields, open)
}

// llm is a row of the table for a model.
func llm[F any](name, doc string, fields func() *F, open func(context.Context, *F, Env) (pipeline.Stage[pipeline.Model], error)) Kind {
	return row(LLM, name, doc, fields, open)
}

// tts is a row of the table for a synthesizer.
func tts[F any](name, doc string, fields func() *F, open func(context.Context, *F, Env) (pipeline.Stage[pipeline.Synthesizer], error)) Kind {
	return row(TTS, name, doc, fields, open)
}

func row[F, S any](stage, name, doc string, fields func() *F, open func(context.Context, *F, Env) (pipeline.Stage[S], error)) Kind {
	return Kind{
		Stage: stage, Name: name, Doc: doc,
		fields: func() any { return fields() },
		open:   func(ctx context.Context, f any, e Env) (any, error) { return open(ctx, f.(*F), e) },
	}
}

// Choice is the kind that a file chooses for one stage, with its fields.
type Choice struct {
	stage  string
	kind   *Kind
	fields any
	common common
	listen listen
	line   int // of its section in the file; 0: the file has none
}

// common are the keys that every kind of a synthesizer has.
type common struct {
	Speakable string `yaml:"speakable" enum:"any,english,none" doc:"How a text is made speakable: any leaves out Markdown, english also writes symbols and units as words, none changes nothing. Without it: english for flite, none for scripted, any for all others."`
}

// listen are the keys that every kind of a recogniser has.
type listen struct {
	Retranscribe bool `yaml:"retranscribe" doc:"Whether each utterance of a semantic_vad turn is recognised again as a whole at its end: the turn ends only if that text has an end, too, and that text is the transcript."`
}

// speakable returns the function for pipeline.Pipeline.Speakable.
func (c *Choice) speakable() func() func(clause string) string {
	how := c.common.Speakable
	if how == "" {
		how = map[string]string{"flite": "english", "scripted": "none"}[c.kind.Name]
	}
	switch how {
	case "none":
		return nil
	case "english":
		return speakable.New(speakable.English)
	}
	return speakable.New(speakable.Any)
}

func (c *Choice) Kind() string { return c.kind.Name }

// Fields returns a pointer to the struct of the kind's fields, such as *SherpaSTT.
func (c *Choice) Fields() any { return c.fields }

// openStage opens the stage that a choice names. path is that of the file.
func openStage[S any](ctx context.Context, path string, c *Choice, e Env) (s pipeline.Stage[S], err error) {
	opened, err := c.kind.open(ctx, c.fields, e)
	if err != nil {
		where := path
		if c.line > 0 {
			where += ":" + strconv.Itoa(c.line)
		}
		return s, fmt.Errorf("%s: %s (kind %s): %w", where, c.stage, c.kind.Name, err)
	}
	return opened.(pipeline.Stage[S]), nil
}
