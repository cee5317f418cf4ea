package llm

// What is known of the server: its models, its context window, and the fields that it refuses.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of Warm.
const (
	maxList      = 4 << 20         // bytes of a list of models
	askWithin    = 3 * time.Second // for a question that a server need not answer
	loadingPause = time.Second     // between two questions whether a server has loaded its model
	shownModels  = 20              // names in an error
)

// state is what is known of the server. The zero value knows nothing.
type state struct {
	mu sync.Mutex
	known
}

type known struct {
	warm   bool     // Warm has returned without an error
	active int      // how many calls of Warm run
	err    error    // of the last Warm
	models []string // that the server lists
	model  string   // the one that the adapter takes
	window int      // tokens; 0: unknown
	blind  bool     // the server says that the model cannot see
}

func (s *state) read() known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

func (s *state) change(f func(k *known)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.known)
}

func (m *Model) blind() bool { return m.config.Blind || m.state.read().blind }

// loading reports whether the first Warm still runs.
func (m *Model) loading() bool {
	k := m.state.read()
	return k.active > 0 && !k.warm
}

// Component returns the state for users.
func (m *Model) Component() pipeline.Component {
	k := m.state.read()
	c := pipeline.Component{
		Stage: pipeline.StageModel, Name: cmp.Or(k.model, m.config.Model, "model"), State: pipeline.StateLoading,
		Detail: strings.Join(m.client.Servers(), ", "),
	}
	switch {
	case k.err != nil:
		c.State, c.Detail = pipeline.StateFailed, k.err.Error()
	case k.warm:
		c.State = pipeline.StateReady
	}
	return c
}

// Warm connects to the server, waits until it has loaded its model, checks that it has the model, and asks for the context window. A server
// that does not list its models is no error. Warm may be called again.
func (m *Model) Warm(ctx context.Context) error {
	m.state.change(func(k *known) { k.active++ })
	defer m.state.change(func(k *known) { k.active-- })
	err := m.warm(ctx)
	if ctx.Err() != nil && err != nil {
		return err // nothing is known about the server
	}
	m.state.change(func(k *known) { k.err, k.warm = err, err == nil })
	return err
}

func (m *Model) warm(ctx context.Context) error {
	list, err := m.list(ctx)
	if err != nil {
		return err
	}
	m.state.change(func(k *known) { k.models = list.names() })
	model, err := m.name(ctx, "")
	if err != nil {
		return err
	}
	window := list.window(model)
	if m.config.Window == 0 {
		window = cmp.Or(m.ask4Window(ctx, model), window)
	}
	m.state.change(func(k *known) { k.model, k.window = model, cmp.Or(m.config.Window, window) })
	return nil
}

// list asks for the models of the server. It waits while the server says that it loads one.
func (m *Model) list(ctx context.Context) (l modelList, err error) {
	for {
		err = m.get(ctx, "models", maxList, &l)
		var status *remote.StatusError
		switch {
		case err == nil || !errors.As(err, &status):
			return l, err
		case status.Code == http.StatusNotFound, status.Code == http.StatusMethodNotAllowed, status.Code == http.StatusNotImplemented:
			return modelList{}, nil // a server without a list
		case status.Code != http.StatusServiceUnavailable || !strings.Contains(strings.ToLower(status.Text), "loading"):
			return l, err
		}
		select {
		case <-ctx.Done():
			return l, err
		case <-time.After(loadingPause):
		}
	}
}

// get asks for an object of JSON.
func (m *Model) get(ctx context.Context, path string, limit int64, into any) error {
	got, err := m.client.Get(ctx, path, mimeJSON)
	if err != nil {
		return err
	}
	return m.object(got, limit, into)
}

// object reads the object of an answer, and closes it.
func (m *Model) object(got *http.Response, limit int64, into any) error {
	defer got.Body.Close()
	if err := m.client.Expect(got, mimeJSON); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(got.Body, limit))
	if err != nil {
		return err
	}
	if json.Unmarshal(text, into) != nil {
		cause := fmt.Errorf("sent what cannot be read: %s", remote.FirstLine(text, m.config.Server.Key))
		return m.client.Error(got, cause, "check the url in the configuration")
	}
	return nil
}

// modelList is the answer of /models.
type modelList struct {
	Data []struct {
		ID     string
		MaxLen int `json:"max_model_len"`  // vLLM
		Window int `json:"context_length"` // OpenRouter and others
		Loaded int `json:"loaded_context_length"`
	}
}

func (l modelList) names() []string {
	var all []string
	for _, m := range l.Data {
		all = append(all, m.ID)
	}
	return all
}

// window returns the context window of a model; 0 if the list does not say it.
func (l modelList) window(model string) int {
	for _, m := range l.Data {
		if m.ID == model {
			return plausible(cmp.Or(m.Loaded, m.MaxLen, m.Window))
		}
	}
	return 0
}

// plausible returns a context window if it can be one, and otherwise 0.
func plausible(tokens int) int {
	if tokens < 256 || tokens > 100_000_000 {
		return 0
	}
	return tokens
}

// ask4Window asks llama.cpp and Ollama, which say the context window outside of OpenAI's interface, and whether the model can see. It returns
// 0 if neither answers.
func (m *Model) ask4Window(ctx context.Context, model string) int {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var props struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities *struct{ Vision bool }
	}
	if m.get(ctx, "../props", maxList, &props) == nil && props.Settings.Window > 0 {
		if props.Modalities != nil {
			m.state.change(func(k *known) { k.blind = !props.Modalities.Vision })
		}
		return plausible(props.Settings.Window)
	}
	var running struct {
		Models []struct {
			Model  string
			Window int `json:"context_length"`
		}
	}
	if m.get(ctx, "../api/ps", maxList, &running) != nil {
		return 0
	}
	window := 0
	for _, r := range running.Models {
		if r.Model == model {
			window = r.Window
		}
	}
	return plausible(cmp.Or(window, m.ask4Show(ctx, model)))
}

// ask4Show asks Ollama about a model that is not loaded. The window is that of its "num_ctx" only: the longest that the model could have is
// not what Ollama gives it.
func (m *Model) ask4Show(ctx context.Context, model string) int {
	body, err := json.Marshal(map[string]string{"model": model})
	if err != nil {
		return 0
	}
	got, err := m.client.Post(ctx, "../api/show", mimeJSON, mimeJSON, body)
	if err != nil {
		return 0
	}
	var show struct {
		Parameters   string
		Capabilities []string
	}
	if m.object(got, maxList, &show) != nil {
		return 0
	}
	if len(show.Capabilities) > 0 {
		m.state.change(func(k *known) { k.blind = !slices.Contains(show.Capabilities, "vision") })
	}
	window := 0
	for line := range strings.Lines(show.Parameters) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "num_ctx" {
			_, _ = fmt.Sscan(fields[1], &window) // not a number: 0
		}
	}
	return window
}

// name returns the model that a request names: the one of the configuration, or the one of the session if the server has it, or the only
// one of the server.
func (m *Model) name(ctx context.Context, session string) (string, error) {
	models := m.state.read().models
	if models == nil && m.config.Model == "" { // Warm was not called, or did not succeed
		list, err := m.list(ctx)
		if err != nil {
			return "", err
		}
		models = list.names()
		m.state.change(func(k *known) { k.models = models })
	}
	switch {
	case m.config.Model == "" && len(models) == 1:
		return models[0], nil
	case m.config.Model == "" && slices.Contains(models, session), m.config.Model == "" && len(models) == 0 && session != "":
		return session, nil
	case m.config.Model == "":
		return "", m.unknown("no model is chosen", models)
	case len(models) == 0:
		return m.config.Model, nil
	}
	for _, candidate := range []string{m.config.Model, m.config.Model + ":latest"} { // Ollama lists "x:latest" for "x"
		if slices.Contains(models, candidate) {
			return candidate, nil
		}
	}
	return "", m.unknown(fmt.Sprintf("does not have the model %q", m.config.Model), models)
}

// unknown returns the error for a model that there is not. It lists those that there are.
func (m *Model) unknown(what string, models []string) error {
	hint := "the server lists no models; set model in the configuration"
	if n := len(models); n > 0 {
		hint = "it has " + strings.Join(models[:min(n, shownModels)], ", ")
		if n > shownModels {
			hint += fmt.Sprintf(" and %d more", n-shownModels)
		}
	}
	return &pipeline.StageError{Stage: pipeline.StageModel, Err: fmt.Errorf("%s: %s", m.client.Servers()[0], what), Hint: hint}
}
