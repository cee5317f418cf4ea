package llm

// The Model: one answer from the request to the usage.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of an answer.
const (
	maxEvent = 256 << 10       // bytes of one event
	maxText  = 1 << 20         // bytes of the text of an answer
	tail     = 2 * time.Second // how long the usage may follow the end of the text
	pulse    = 5 * time.Second // how often a model that thinks is reported
	mimeSSE  = "text/event-stream"
	mimeJSON = "application/json"
)

// Model is a pipeline.Model on a server. Its methods may be called by several goroutines at a time.
type Model struct {
	config Config
	client *remote.Client
	form   form
	state  state
	habits habits
}

// form is one of the forms of HTTP in which a server is asked.
type form interface {
	// path returns the path behind the base address.
	path() string
	// fill adds the fields of a request to body.
	fill(body map[string]any, r pipeline.Request, c *Config)
	// read takes one event of the stream. It returns io.EOF for one that ends the answer.
	read(a *answer, e remote.Event) error
	// whole takes an answer that is not streamed.
	whole(a *answer, text []byte) error
}

// NewChat returns a model that is asked by /chat/completions, or an error that names the setting that is wrong. It calls no server.
func NewChat(c Config) (*Model, error) { return newModel(c, chat{}) }

// NewResponses returns a model that is asked by /responses.
func NewResponses(c Config) (*Model, error) {
	if c.Hears {
		return nil, errors.New("hears: the form /responses takes no audio; leave it out, or take the kind openai")
	}
	return newModel(c, responses{})
}

func newModel(c Config, f form) (*Model, error) {
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	m := &Model{config: c, client: client, form: f}
	m.state.window = c.Window
	return m, nil
}

// Close ends the connections that no request uses.
func (m *Model) Close() error {
	m.client.Close()
	return nil
}

// Generate implements pipeline.Model. The usage is the server's. If the server does not say it, four bytes count as one token.
func (m *Model) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	if m.blind() && sees(r.Messages) {
		return pipeline.Usage{}, emit(pipeline.TextDelta{Text: pipeline.NoVisionReply})
	}
	name, err := m.name(ctx, r.Model)
	if err != nil {
		return pipeline.Usage{}, err
	}
	r.Instructions = m.config.brief(r, time.Now())
	a := newAnswer(m, emit)
	if m.loading() {
		if err := emit(pipeline.Thinking{Loading: true}); err != nil {
			return pipeline.Usage{}, err
		}
	}
	got, err := m.ask(ctx, name, r)
	if err != nil {
		return pipeline.Usage{}, explainAudio(err, r)
	}
	defer got.Body.Close()
	err = m.read(a, got)
	if done := ctx.Err(); done != nil && err != nil {
		err = done
	}
	return a.tokens(m, r), err
}

func (m *Model) read(a *answer, got *http.Response) error {
	if err := m.client.Expect(got, mimeSSE, mimeJSON); err != nil {
		return err
	}
	var err error
	if kind, _, _ := mime.ParseMediaType(got.Header.Get("Content-Type")); kind == mimeJSON {
		err = m.readWhole(a, got)
	} else {
		err = m.readEvents(a, got)
	}
	if err == nil && a.finish == "" {
		err = errors.New("ended before the end of its answer")
	}
	if err == nil {
		err = a.end()
	}
	return m.explain(a, got, err)
}

// explain makes the error of a stage of one that has none.
func (m *Model) explain(a *answer, got *http.Response, err error) error {
	var stage *pipeline.StageError
	switch {
	case err == nil, errors.As(err, &stage), errors.Is(err, pipeline.ErrMaxTokens):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, a.refused) && a.refused != nil:
		return err
	case errors.Is(err, errThinks):
		return m.client.Error(got, err, "switch its thinking off with options, or take another model")
	}
	return m.client.Error(got, err, "")
}

func (m *Model) readEvents(a *answer, got *http.Response) error {
	var late *time.Timer
	for e, err := range m.client.Events(got, maxEvent) {
		if err != nil && a.finish != "" {
			return nil // only the usage is missing
		}
		if err != nil {
			return err
		}
		if err := m.form.read(a, e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if a.finish != "" && late == nil {
			late = time.AfterFunc(tail, func() { _ = got.Body.Close() })
			defer late.Stop()
		}
	}
	return nil
}

func (m *Model) readWhole(a *answer, got *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(got.Body, maxText+1))
	if err != nil {
		return err
	}
	if len(text) > maxText {
		return fmt.Errorf("sent more than %d bytes", maxText)
	}
	return m.form.whole(a, text)
}

// decode reads the JSON of an event. Its error has the first line of it.
func (m *Model) decode(data string, into any) error {
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return fmt.Errorf("sent what cannot be read: %s", remote.FirstLine([]byte(data), m.config.Server.Key))
	}
	return nil
}

// CountTokens implements pipeline.TokenCounter: four bytes count as one token.
func (m *Model) CountTokens(text string) int { return (len(text) + 3) / 4 }

// ContextWindow implements pipeline.TokenCounter.
func (m *Model) ContextWindow() int {
	if n := m.state.read().window; n > 0 {
		return n
	}
	return pipeline.DefaultContextWindow
}

// HearsAudio implements pipeline.AudioModel.
func (m *Model) HearsAudio() bool { return m.config.Hears }

// sees reports whether the user's newest message has images.
func sees(messages []pipeline.Message) bool {
	return len(messages) > 0 && len(messages[len(messages)-1].Images) > 0
}

// text returns all that a model reads of a request, to count its tokens.
func text(r pipeline.Request) string {
	var all strings.Builder
	all.WriteString(r.Instructions)
	for _, t := range r.Tools {
		all.WriteString(t.Name + t.Description)
		all.Write(t.Parameters)
	}
	for _, msg := range r.Messages {
		all.WriteString(msg.Text)
		if msg.Call != nil {
			all.WriteString(msg.Call.Name + msg.Call.Arguments)
		}
		if msg.Result != nil {
			all.WriteString(msg.Result.Output)
		}
	}
	return all.String()
}
