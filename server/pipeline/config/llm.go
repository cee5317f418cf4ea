package config

// The kinds of models that are servers.

import (
	"context"
	"time"

	model "github.com/antiphon-rt/antiphon/internal/engine/llm"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// OpenAILLM has the fields of the kinds openai and openai-responses.
type OpenAILLM struct {
	Remote       `yaml:",inline"`
	Options      map[string]any `yaml:"options" doc:"Further fields of each request, such as temperature, or the one that switches a model's thinking off."`
	Window       int            `yaml:"window" min:"0" max:"100000000" doc:"Context window in tokens; without it, what the server says."`
	Interruption string         `yaml:"interruption" doc:"Note for the model before the words with which the user interrupted it; none: no note."`
	Spoken       string         `yaml:"spoken" doc:"How the model is told to write an answer that is spoken; none: not at all."`
	NoTime       bool           `yaml:"no_time" doc:"The model is not told the user's time and language."`
	Blind        bool           `yaml:"blind" doc:"The model cannot see images."`
	Hears        bool           `yaml:"hears" doc:"The model hears: it gets the user's newest speech as audio, in place of the transcript. For kind openai."`
	MaxThinking  time.Duration  `yaml:"max_thinking" min:"1s" max:"10m" doc:"The longest time from the first thought to the first word; 2m without it."`
}

func openChat(_ context.Context, c *OpenAILLM, e Env) (pipeline.Stage[pipeline.Model], error) {
	return openModel(c, e, model.NewChat)
}

func openResponses(_ context.Context, c *OpenAILLM, e Env) (pipeline.Stage[pipeline.Model], error) {
	return openModel(c, e, model.NewResponses)
}

// openModel opens a model by one of its forms.
func openModel(c *OpenAILLM, e Env, open func(model.Config) (*model.Model, error)) (s pipeline.Stage[pipeline.Model], err error) {
	server, err := c.server(e)
	if err != nil {
		return s, err
	}
	m, err := open(model.Config{
		Server: server, Model: c.Model, Window: c.Window, Options: c.Options, Interruption: c.Interruption, Blind: c.Blind, MaxThinking: c.MaxThinking,
		Spoken: c.Spoken, NoTime: c.NoTime, Hears: c.Hears,
	})
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Model]{Impl: m, Component: m.Component, Warm: m.Warm, Close: m.Close}, nil
}
