package config

// The kinds of Wyoming services.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/engine/wyoming"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Wyoming has the fields of every Wyoming service. The protocol has no key.
type Wyoming struct {
	URL     string  `yaml:"url" required:"" doc:"Address of the service: tcp://host:port, with the usual ports 10300 for recognisers and 10200 for synthesizers, or unix:///path."`
	Timeout Timeout `yaml:"timeout" doc:"Deadlines of a call."`
}

func (w *Wyoming) service() wyoming.Service {
	return wyoming.Service{URL: w.URL, Connect: w.Timeout.Connect, FirstByte: w.Timeout.FirstByte, Idle: w.Timeout.Idle}
}

// WyomingSTT has the fields of kind wyoming of a recogniser.
type WyomingSTT struct {
	Wyoming  `yaml:",inline"`
	Partials `yaml:",inline"`
	Model    string `yaml:"model" doc:"The model, as the service names it; without it, the service's own choice."`
	Language string `yaml:"language" doc:"The language, such as en, of sessions that name none."`
}

func openWyomingSTT(_ context.Context, c *WyomingSTT, _ Env) (s pipeline.Stage[pipeline.Transcriber], err error) {
	t, err := wyoming.NewTranscriber(wyoming.RecogniserOptions{Service: c.service(), Model: c.Model, Language: c.Language, PartialEvery: c.every()})
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Transcriber]{Impl: t, Component: t.Component, Warm: t.Warm}, nil
}

// WyomingTTS has the fields of kind wyoming of a synthesizer.
type WyomingTTS struct {
	Wyoming `yaml:",inline"`
	Voice   string `yaml:"voice" doc:"The synthesis voice of a session that asks for none, or for one that only the protocol names, such as alloy."`
	Speaker string `yaml:"speaker" doc:"The speaker of the voice, where it has several."`
}

func openWyomingTTS(_ context.Context, c *WyomingTTS, _ Env) (s pipeline.Stage[pipeline.Synthesizer], err error) {
	v, err := wyoming.NewSynthesizer(wyoming.SynthesizerOptions{Service: c.service(), Voice: c.Voice, Speaker: c.Speaker})
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Synthesizer]{Impl: v, Component: v.Component, Warm: v.Warm}, nil
}
