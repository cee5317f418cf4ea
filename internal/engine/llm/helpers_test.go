package llm

// A server of models for the tests, and what an answer of a Model gives.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// fakeServer answers each request for a completion with the same events, and keeps the requests.
type fakeServer struct {
	url string

	mu     sync.Mutex
	models string // the answer of /v1/models; empty: 404
	asked  []map[string]any
	answer http.HandlerFunc
}

// serve starts a server that answers with this text as server-sent events.
func serve(t *testing.T, events string) *fakeServer {
	t.Helper()
	f := &fakeServer{answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mimeSSE)
		_, _ = io.WriteString(w, events)
	}}
	mux := http.NewServeMux()
	complete := func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
		f.mu.Lock()
		f.asked = append(f.asked, body)
		f.mu.Unlock()
		f.answer(w, r)
	}
	mux.HandleFunc("POST /v1/chat/completions", complete)
	mux.HandleFunc("POST /v1/responses", complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if f.models == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mimeJSON)
		_, _ = io.WriteString(w, f.models)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	f.url = s.URL + "/v1"
	return f
}

// last returns the body of the last request, as JSON.
func (f *fakeServer) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, _ := json.Marshal(f.asked[len(f.asked)-1])
	return string(text)
}

// model returns a model on the server. It is not told the time, so that its requests are known.
func model(t *testing.T, c Config, make func(Config) (*Model, error), urls ...string) *Model {
	t.Helper()
	c.Server.URLs, c.NoTime = urls, true
	if c.Model == "" {
		c.Model = "m"
	}
	m, err := make(c)
	if err != nil {
		t.Fatal(err)
	}
	m.state.warm = true
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// said is what an answer gave.
type said struct {
	Events []string // "thinks", "call 0 name: arguments" for each piece, "done 0 name: arguments"
	Text   string
	Usage  pipeline.Usage
}

// generate asks a model, and returns what it gave.
func generate(ctx context.Context, m *Model, r pipeline.Request) (s said, err error) {
	s.Usage, err = m.Generate(ctx, r, func(e pipeline.ModelEvent) error {
		switch e := e.(type) {
		case pipeline.Thinking:
			s.Events = append(s.Events, "thinks")
		case pipeline.TextDelta:
			s.Text += e.Text
		case pipeline.ToolCallDelta:
			s.Events = append(s.Events, fmt.Sprintf("call %d %s: %s", e.Index, e.Name, e.Arguments))
		case pipeline.ToolCallDone:
			s.Events = append(s.Events, fmt.Sprintf("done %d %s: %s", e.Index, e.Name, e.Arguments))
		}
		return nil
	})
	return s, err
}

// events returns the data of server-sent events, and [DONE].
func events(data ...string) string {
	var all strings.Builder
	for _, d := range append(data, "[DONE]") {
		fmt.Fprintf(&all, "data: %s\n\n", d)
	}
	return all.String()
}

// delta returns a chunk of /chat/completions with these fields of its delta.
func delta(fields string) string { return `{"choices":[{"delta":{` + fields + `}}]}` }

const stop = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`

func expectJSON(g *gomega.WithT, got, want string) {
	g.Expect(got).To(gomega.MatchJSON(want))
}
