package wyoming

// The recogniser: whole recordings, and live recognition where the service streams transcripts.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/engine/stt"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxText is the longest transcript, in bytes.
const maxText = 64 << 10

// RecogniserOptions configure a Transcriber. Service is required.
type RecogniserOptions struct {
	Service  Service
	Model    string // it replaces the model that a session names; empty: the service's default
	Language string // ISO 639-1, for sessions that name none; empty: the service's default
	// PartialEvery is the shortest time between two requests for partial results, for a service that does not stream transcripts; 0: 0.7 s.
	// Below 0 there are none, and a live transcription is refused with pipeline.ErrNoLive.
	PartialEvery time.Duration
}

// Transcriber is a pipeline.Transcriber whose engine is a Wyoming service. Its methods may be called by several goroutines at a time.
type Transcriber struct {
	pipeline.Transcriber
	engine *engine
}

// NewTranscriber returns a Transcriber, or an error that says which setting is wrong. It does not call the service.
func NewTranscriber(o RecogniserOptions) (*Transcriber, error) {
	s, err := newService(pipeline.StageTranscriber, o.Service)
	if err != nil {
		return nil, err
	}
	if o.PartialEvery == 0 {
		o.PartialEvery = growing.Every
	}
	e := &engine{service: s, o: o}
	return &Transcriber{backend.InProcess(e), e}, nil
}

// NegotiateConfig implements pipeline.ConfigNegotiator. The protocol has no prompt and no times of words. A session's model counts only if the service has it,
// because clients of OpenAI name models of OpenAI's.
func (t *Transcriber) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	c.Prompt, c.Words, c.Model = "", false, t.engine.model(c.Model)
	if c.Model == t.engine.o.Model {
		c.Model = ""
	}
	return c, nil
}

// Warm asks the service what it is, and has a second of silence recognised, so that it loads its model.
func (t *Transcriber) Warm(ctx context.Context) error {
	e := t.engine
	_, err := e.service.describe(ctx)
	if err == nil {
		_, err = e.ask(ctx, backend.Config{}, make([]byte, 2*pipeline.InputRate), nil)
	}
	return e.service.last.Note(ctx, err)
}

// Component returns the present state: it has failed if the last call has.
func (t *Transcriber) Component() pipeline.Component {
	return t.engine.service.component(t.engine.Info().Name)
}

// engine is the backend.Engine of a service.
type engine struct {
	service *service
	o       RecogniserOptions
}

func (e *engine) Info() backend.Info {
	i := backend.Info{Name: e.o.Model, Detail: e.service.URL, Live: e.o.PartialEvery > 0}
	if known := e.service.info.Load(); known != nil {
		i.Name = strings.TrimSpace(known.ASR[0].Name + " " + e.o.Model)
		i.Live = i.Live || known.ASR[0].Transcripts
	}
	return i
}

func (e *engine) Close() error { return nil }

// model returns the model for a session that names one: the configured one, or the session's if the service has it.
func (e *engine) model(asked string) string {
	known := e.service.info.Load()
	if e.o.Model != "" || known == nil {
		return e.o.Model
	}
	for _, p := range known.ASR {
		if slices.ContainsFunc(p.Models, func(m variant) bool { return m.Name == asked }) {
			return asked
		}
	}
	return ""
}

// Open implements backend.Engine. For a live utterance it asks the service whether it streams transcripts.
func (e *engine) Open(ctx context.Context, c backend.Config) (backend.Stream, error) {
	if c.Live {
		known, err := e.service.known(ctx)
		if err != nil {
			return nil, e.service.last.Note(ctx, err)
		}
		if known.ASR[0].Transcripts {
			return e.live(ctx, c)
		}
	}
	return growing.Open(ctx, c, e.o.PartialEvery, e.ask)
}

// begin opens a connection and sends what stands before the audio.
func (e *engine) begin(ctx context.Context, c backend.Config) (*conn, error) {
	language := c.Language
	if language == "" {
		language = e.o.Language
	}
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	ask := map[string]string{}
	for name, value := range map[string]string{"name": e.model(c.Model), "language": language} {
		if value != "" {
			ask[name] = value
		}
	}
	s, err := e.service.open(ctx)
	if err != nil {
		return nil, err
	}
	if err = s.send("transcribe", ask, nil); err == nil {
		err = s.send("audio-start", input, nil)
	}
	if err != nil {
		_ = s.Close() // the connection is broken
		return nil, err
	}
	return s, nil
}

// format is the format of audio.
type format struct {
	Rate     int `json:"rate"`     // hertz
	Width    int `json:"width"`    // bytes a sample
	Channels int `json:"channels"` // interleaved
}

// input is the format of the audio that goes to a recogniser.
var input = format{pipeline.InputRate, 2, 1}

// chunk is the audio of one event to a recogniser, in bytes: 100 ms.
const chunk = 2 * pipeline.InputRate / 10

// write sends 16-bit PCM.
func (c *conn) write(pcm []byte) error {
	for part := range slices.Chunk(pcm, chunk) {
		if err := c.send("audio-chunk", input, part); err != nil {
			return err
		}
	}
	return nil
}

// ask has a recording transcribed, over a connection of its own. It is a growing.Ask.
func (e *engine) ask(ctx context.Context, c backend.Config, pcm []byte, show func(backend.Update)) (backend.Result, error) {
	r, err := func() (r backend.Result, err error) {
		s, err := e.begin(ctx, c)
		if err != nil {
			return r, err
		}
		defer s.Close()
		if err = s.write(pcm); err == nil {
			err = s.send("audio-stop", nil, nil)
		}
		if err != nil {
			return r, err
		}
		var h hearing
		for !h.whole {
			ev, err := s.next()
			if err == nil {
				err = s.fail(h.take(ev, show))
			}
			if err != nil {
				return r, err
			}
		}
		return backend.Result{Text: h.final()}, nil
	}()
	return r, e.service.last.Note(ctx, err)
}

// hearing is what a service has said of one utterance.
type hearing struct {
	text  string // the pieces so far
	last  string // the whole text
	whole bool
}

// take takes an event. show may be nil.
func (h *hearing) take(e event, show func(backend.Update)) error {
	var said struct {
		Text string `json:"text"`
	}
	switch e.kind {
	case "transcript", "transcript-chunk":
		if err := e.into(&said); err != nil {
			return err
		}
	case "transcript-stop":
		h.whole = true // the whole text comes before it, where a service sends one
		return nil
	default:
		return nil
	}
	if len(said.Text)+len(h.text) > maxText {
		return fmt.Errorf("%w: more than %d bytes of text for one utterance", errAnswer, maxText)
	}
	if e.kind == "transcript" {
		h.last, h.whole = said.Text, true
		return nil
	}
	h.text += said.Text
	if so := stt.Spoken(h.text); show != nil && so != "" {
		show(backend.Update{Partial: so})
	}
	return nil
}

// final returns the whole text, without what Whisper models write for silence.
func (h *hearing) final() string {
	if h.last != "" {
		return stt.Spoken(h.last)
	}
	return stt.Spoken(h.text)
}
