package tts

// The Synthesizer: one clause from the request to the last sample.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxText is the longest text of one request, in bytes.
const maxText = 4096

const (
	mimeSSE  = "text/event-stream"
	mimeJSON = "application/json"
)

// Synthesizer is a pipeline.Synthesizer on a server. Its methods may be called by several goroutines at a time.
type Synthesizer struct {
	config Config
	client *remote.Client
	form   form
	warmed remote.Outcome
	voices atomic.Pointer[[]string] // that the server lists
	path   atomic.Int32             // which of the form's paths the server has
}

// form is one of the forms of HTTP in which a server is asked.
type form interface {
	// paths returns the paths of speech, behind the base address: the server has one of them. list is that of the list of voices.
	paths() []string
	list() string
	// fill adds the fields of a request to body. voice may be empty.
	fill(body map[string]any, u pipeline.Utterance, voice string, c *Config)
}

// NewOpenAI returns a synthesizer that is asked by /audio/speech, or an error that names the setting that is wrong. It calls no server.
func NewOpenAI(c Config) (*Synthesizer, error) { return newSynthesizer(c, openAI{}) }

// NewPiper returns a synthesizer that is asked by the HTTP server of Piper.
func NewPiper(c Config) (*Synthesizer, error) { return newSynthesizer(c, piper{}) }

func newSynthesizer(c Config, f form) (*Synthesizer, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	client, err := remote.New(c.Server)
	if err != nil {
		return nil, err
	}
	return &Synthesizer{config: c, client: client, form: f}, nil
}

// Close ends the connections that no request uses.
func (s *Synthesizer) Close() error {
	s.client.Close()
	return nil
}

// openAI is the form of /audio/speech.
type openAI struct{}

func (openAI) paths() []string { return []string{"audio/speech"} }
func (openAI) list() string    { return "audio/voices" }

func (openAI) fill(body map[string]any, u pipeline.Utterance, voice string, c *Config) {
	body["input"], body["response_format"] = u.Text, FormatPCM
	if c.Format == FormatWAV {
		body["response_format"] = FormatWAV
	}
	if c.Format == FormatSSE {
		body["stream_format"] = "sse"
	}
	if c.Model != "" {
		body["model"] = c.Model
	}
	if voice == "" {
		voice = "alloy" // OpenAI demands one
	}
	body["voice"] = voice
	if u.Speed != 1 {
		body["speed"] = u.Speed
	}
}

// piper is the form of Piper's HTTP server.
type piper struct{}

func (piper) paths() []string { return []string{"synthesize", "/"} } // of piper-tts 1.8 and 1.3
func (piper) list() string    { return "voices" }

func (piper) fill(body map[string]any, u pipeline.Utterance, voice string, _ *Config) {
	body["text"] = u.Text
	if voice != "" {
		body["voice"] = voice
	}
	if u.Speed != 1 {
		body["length_scale"] = 1 / u.Speed
	}
}

func (s *Synthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	name, err := s.pick(u.Voice)
	if err != nil {
		return err
	}
	if len(u.Text) > maxText {
		return s.fail(fmt.Errorf("%w: %d bytes, the limit is %d", pipeline.ErrTooLong, len(u.Text), maxText), "cut it into clauses")
	}
	u.Text = strings.Join(strings.Fields(strings.ToValidUTF8(u.Text, " ")), " ")
	if !strings.ContainsFunc(u.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return nil
	}
	if u.Speed == 0 {
		u.Speed = 1
	}
	u.Speed = min(max(u.Speed, 0.25), 4)
	body := map[string]any{}
	maps.Copy(body, s.config.Options)
	s.form.fill(body, u, name, &s.config)
	text, err := json.Marshal(body)
	if err != nil {
		return s.fail(err, "")
	}
	got, err := s.post(ctx, text)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	err = s.play(ctx, got, emit)
	if done := ctx.Err(); done != nil && err != nil {
		return done
	}
	return err
}

// post sends a request to the path that the server has. The caller closes the answer's body.
func (s *Synthesizer) post(ctx context.Context, body []byte) (*http.Response, error) {
	var first error
	paths := s.form.paths()
	known := int(s.path.Load())
	for i := range paths {
		at := (known + i) % len(paths)
		got, err := s.client.Post(ctx, paths[at], mimeJSON, "*/*", body)
		if err == nil {
			s.path.Store(int32(at))
			return got, nil
		}
		if first == nil {
			first = err
		}
		var status *remote.StatusError
		if !errors.As(err, &status) || status.Code != http.StatusNotFound && status.Code != http.StatusMethodNotAllowed {
			break
		}
	}
	return nil, first
}

func (s *Synthesizer) fail(err error, hint string) error {
	return &pipeline.StageError{Stage: pipeline.StageSynthesizer, Err: err, Hint: hint}
}

// soundTypes returns the media types of answers that may be PCM, WAV, or events with either.
func soundTypes() []string {
	return []string{
		"audio/pcm", "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/raw", "application/octet-stream", "binary/octet-stream", mimeSSE,
	}
}
