package config

// The kinds of recognisers that are servers.

import (
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend/rpc"
	recogniser "github.com/antiphon-rt/antiphon/internal/engine/stt"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Hearing has the fields of every recogniser that is a server.
type Hearing struct {
	Language string `yaml:"language" doc:"The language, such as en, of sessions that name none; without it, the server finds it out."`
	Prompt   string `yaml:"prompt" doc:"Words to expect, for sessions that name none."`
}

// Partials has the fields of recognisers that send the growing utterance again, so that a server without live results has them.
type Partials struct {
	PartialEvery time.Duration `yaml:"partial_every" min:"100ms" max:"1m" doc:"The shortest time between two requests for a partial result; 0.7s without it. A server works for them at most half of the time."`
	NoPartials   bool          `yaml:"no_partials" doc:"Ask for no partial results: for servers that charge for each request. There are no captions then while the user speaks."`
}

// every returns the time between two requests; below 0: there are none.
func (p *Partials) every() time.Duration {
	if p.NoPartials {
		return -1
	}
	return p.PartialEvery
}

// OpenAISTT has the fields of kind openai.
type OpenAISTT struct {
	Remote   `yaml:",inline"`
	Hearing  `yaml:",inline"`
	Partials `yaml:",inline"`
	Format   string  `yaml:"format" enum:"json,verbose_json" doc:"The answer: json has the text alone, verbose_json also words, and how sure the server is that there was speech. json without it."`
	Stream   bool    `yaml:"stream" doc:"Have the final text streamed, so that its begin is shown earlier; not every server can."`
	NoSpeech float64 `yaml:"no_speech" min:"0" max:"1" doc:"Drop a segment for which the server's no_speech_prob is above this; 0.6 without it, 1 drops none."`
}

func openSTT(_ context.Context, c *OpenAISTT, e Env) (pipeline.Stage[pipeline.Transcriber], error) {
	return openHTTP(&c.Remote, e, recogniser.Options{
		Form: recogniser.OpenAI, Model: c.Model, Language: c.Language, Prompt: c.Prompt, Format: c.Format, Stream: c.Stream,
		PartialEvery: c.every(), NoSpeech: c.NoSpeech,
	})
}

// WhisperCPP has the fields of kind whisper.cpp. The server has one model, which it got when it was started.
type WhisperCPP struct {
	Remote   `yaml:",inline"`
	Hearing  `yaml:",inline"`
	Partials `yaml:",inline"`
	NoSpeech float64 `yaml:"no_speech" min:"0" max:"1" doc:"Drop a segment for which the server's no_speech_prob is above this; 0.6 without it, 1 drops none."`
}

func openWhisperCPP(_ context.Context, c *WhisperCPP, e Env) (pipeline.Stage[pipeline.Transcriber], error) {
	return openHTTP(&c.Remote, e, recogniser.Options{
		Form: recogniser.WhisperCPP, Model: c.Model, Language: c.Language, Prompt: c.Prompt, PartialEvery: c.every(), NoSpeech: c.NoSpeech,
	})
}

// openHTTP opens a recogniser that takes recordings over HTTP.
func openHTTP(r *Remote, e Env, o recogniser.Options) (s pipeline.Stage[pipeline.Transcriber], err error) {
	if o.Server, err = r.server(e); err != nil {
		return s, err
	}
	t, err := recogniser.New(o)
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Transcriber]{Impl: t, Component: t.Component, Warm: t.Warm, Close: t.Close}, nil
}

// RealtimeSTT has the fields of kind openai-realtime.
type RealtimeSTT struct {
	Remote  `yaml:",inline"`
	Hearing `yaml:",inline"`
	Form    string `yaml:"form" enum:"openai,speaches,vllm" doc:"How the server speaks: openai (also LocalAI and Antiphon), speaches, or vllm; openai without it."`
}

func openRealtime(_ context.Context, c *RealtimeSTT, e Env) (s pipeline.Stage[pipeline.Transcriber], err error) {
	o := recogniser.RealtimeOptions{Form: recogniser.SocketForms()[c.Form], Model: c.Model, Language: c.Language, Prompt: c.Prompt}
	if o.Server, err = c.server(e); err != nil {
		return s, err
	}
	t, err := recogniser.NewRealtime(o)
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Transcriber]{Impl: t, Component: t.Component, Warm: t.Warm, Close: t.Close}, nil
}

// GRPC has the fields of kind grpc.
type GRPC struct {
	URL      string        `yaml:"url" required:"" doc:"Address of the back end: grpc://host:port, grpcs://host:port with TLS, or unix:///path."`
	Model    string        `yaml:"model" doc:"The model, as the back end names it."`
	Language string        `yaml:"language" doc:"The language, such as en, of sessions that name none."`
	Open     time.Duration `yaml:"open" min:"10ms" max:"10s" doc:"Longest wait until the back end is ready for an utterance; 5s without it."`
	Hang     time.Duration `yaml:"hang" min:"10ms" max:"1m" doc:"Longest wait for a result after the end of the audio; 10s without it. A long utterance has more."`
}

func openGRPC(_ context.Context, c *GRPC, _ Env) (s pipeline.Stage[pipeline.Transcriber], err error) {
	t, err := rpc.New(rpc.Options{URL: c.URL, Model: c.Model, Language: c.Language, Open: c.Open, Hang: c.Hang})
	if err != nil {
		return s, err
	}
	return pipeline.Stage[pipeline.Transcriber]{Impl: t, Component: t.Component, Warm: t.Warm, Close: t.Close}, nil
}
