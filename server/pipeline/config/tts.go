package config

// The kinds of synthesizers that are servers.

import (
	"context"

	speech "github.com/antiphon-rt/antiphon/internal/engine/tts"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Speaking has the fields of every synthesizer that is a server.
type Speaking struct {
	Voice   string            `yaml:"voice" doc:"The synthesis voice, as the server names it, of a session that asks for none, or for one that the server does not have."`
	Voices  map[string]string `yaml:"voices" doc:"The server's voice for each name that sessions use, such as alloy: af_heart."`
	Options map[string]any    `yaml:"options" doc:"Further fields of each request, such as instructions."`
}

// OpenAITTS has the fields of kind openai.
type OpenAITTS struct {
	Remote   `yaml:",inline"`
	Speaking `yaml:",inline"`
	Format   string `yaml:"format" enum:"pcm,wav,sse" doc:"What is asked of the server: raw PCM, a WAV file, or events with raw PCM. pcm without it."`
	Rate     int    `yaml:"rate" min:"8000" max:"48000" doc:"Rate of raw PCM in Hz; 24000 without it. A WAV file says its own rate."`
}

// Piper has the fields of kind piper. The server chooses its model by the voice.
type Piper struct {
	Remote   `yaml:",inline"`
	Speaking `yaml:",inline"`
}

func openSpeech(_ context.Context, c *OpenAITTS, e Env) (pipeline.Stage[pipeline.Synthesizer], error) {
	return openSynthesizer(&c.Remote, e, speech.NewOpenAI, speech.Config{
		Model: c.Model, Voice: c.Voice, Voices: c.Voices, Options: c.Options, Format: c.Format, Rate: c.Rate,
	})
}

func openPiper(_ context.Context, c *Piper, e Env) (pipeline.Stage[pipeline.Synthesizer], error) {
	return openSynthesizer(&c.Remote, e, speech.NewPiper, speech.Config{Voice: c.Voice, Voices: c.Voices, Options: c.Options})
}

// openSynthesizer opens a synthesizer that is a server. open makes one for the form of its requests.
func openSynthesizer(
	r *Remote, e Env, open func(speech.Config) (*speech.Synthesizer, error), c speech.Config,
) (s pipeline.Stage[pipeline.Synthesizer], err error) {
	if c.Server, err = r.server(e); err != nil {
		return s, err
	}
	v, err := open(c)
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Synthesizer]{Impl: v, Component: v.Component, Warm: v.Warm, Close: v.Close}, nil
}
