package llm

// The request: sends it, and leaves out the fields that the server refuses.

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// optional returns the fields without which a request means nearly the same. Old and strict servers refuse some of them.
func optional() []string { return []string{"stream_options", "parallel_tool_calls", "store"} }

// habits is what the adapter has learnt from the answers of a server. The zero value has learnt nothing.
type habits struct {
	mu       sync.Mutex
	refused  map[string]bool // fields that the server refuses
	renamed  bool            // the server wants max_completion_tokens in place of max_tokens
	accepted bool            // the server has accepted a request
	thinks   bool            // the answers of the model begin inside a thought
}

func (h *habits) startsThinking() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.thinks
}

func (h *habits) learnThinking() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.thinks = true
}

// apply changes a request as the server wants it.
func (h *habits) apply(body map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.refused {
		delete(body, name)
	}
	if n, ok := body["max_tokens"]; ok && h.renamed {
		delete(body, "max_tokens")
		body["max_completion_tokens"] = n
	}
}

// learn notes which field of the request a refusal names. It reports false if the refusal names none.
func (h *habits) learn(body map[string]any, refusal *remote.StatusError) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := refusal.Text
	if _, has := body["max_tokens"]; has && strings.Contains(text, "max_completion_tokens") {
		h.renamed = true
		return true
	}
	for _, name := range optional() {
		if _, has := body[name]; has && strings.Contains(text, name) {
			h.refuse(name)
			return true
		}
	}
	return false
}

// refuse notes that the server refuses a field. The caller holds mu.
func (h *habits) refuse(name string) {
	if h.refused == nil {
		h.refused = map[string]bool{}
	}
	h.refused[name] = true
}

// accept notes that the server has accepted a request. left are fields that were left out of it on suspicion.
func (h *habits) accept(left []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.accepted = true
	for _, name := range left {
		h.refuse(name)
	}
}

// suspects returns the optional fields of a request, which the server may have refused without naming one. It returns none if the server
// has accepted a request before.
func (h *habits) suspects(body map[string]any) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, name := range optional() {
		if _, has := body[name]; has && !h.accepted {
			all = append(all, name)
		}
	}
	return all
}

// refuses returns the refusal of a request for what is in it; nil for another error.
func refuses(err error) *remote.StatusError {
	var status *remote.StatusError
	if errors.As(err, &status) && (status.Code == http.StatusBadRequest || status.Code == http.StatusUnprocessableEntity) {
		return status
	}
	return nil
}

// explainAudio adds to the refusal of a request with audio what the user can do.
func explainAudio(err error, r pipeline.Request) error {
	spoken := slices.ContainsFunc(r.Messages, func(m pipeline.Message) bool { return m.Audio != nil })
	var stage *pipeline.StageError
	var status *remote.StatusError
	if !spoken || !errors.As(err, &stage) || !errors.As(err, &status) || stage.Hint != "" {
		return err
	}
	return &pipeline.StageError{Stage: stage.Stage, Err: stage.Err, Hint: "the request has audio: if the model cannot hear, leave hears out of the configuration"}
}

// ask sends the request and returns the answer, of which the caller closes the body.
func (m *Model) ask(ctx context.Context, model string, r pipeline.Request) (*http.Response, error) {
	full := map[string]any{}
	maps.Copy(full, m.config.Options)
	m.form.fill(full, r, &m.config)
	full["model"], full["stream"] = model, true
	for {
		body := maps.Clone(full)
		m.habits.apply(body)
		got, err := m.post(ctx, body)
		refusal := refuses(err)
		if refusal == nil {
			if err == nil {
				m.habits.accept(nil)
			}
			return got, err
		}
		if m.habits.learn(body, refusal) {
			continue // each time one field less
		}
		suspects := m.habits.suspects(body)
		if len(suspects) == 0 {
			return nil, err
		}
		for _, name := range suspects {
			delete(body, name)
		}
		got, second := m.post(ctx, body)
		if second != nil {
			return nil, err // the first refusal says what is wrong
		}
		m.habits.accept(suspects)
		return got, nil
	}
}

func (m *Model) post(ctx context.Context, body map[string]any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, &pipeline.StageError{Stage: pipeline.StageModel, Err: err}
	}
	return m.client.Post(ctx, m.form.path(), mimeJSON, mimeSSE, text)
}
