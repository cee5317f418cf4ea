package llm

// What a Model learns of its server: models, context window, sight.

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// pages starts a server that answers with these texts of JSON by path, and 404 for others.
func pages(t *testing.T, texts map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mimeJSON)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func TestWarm(t *testing.T) {
	const two = `{"data":[{"id":"small"},{"id":"large:latest","max_model_len":9000}]}`
	for name, test := range map[string]struct {
		texts  map[string]string
		config Config
		model  string
		window int
		blind  bool
	}{
		"the only model":       {map[string]string{"/v1/models": `{"data":[{"id":"small"}]}`}, Config{}, "small", pipeline.DefaultContextWindow, false},
		"vLLM":                 {map[string]string{"/v1/models": two}, Config{Model: "large:latest"}, "large:latest", 9000, false},
		"a name without a tag": {map[string]string{"/v1/models": two}, Config{Model: "large"}, "large:latest", 9000, false},
		"no list":              {nil, Config{Model: "m"}, "m", pipeline.DefaultContextWindow, false},
		"configured":           {map[string]string{"/v1/models": two}, Config{Model: "large", Window: 500}, "large:latest", 500, false},
		"llama.cpp": {
			map[string]string{"/v1/models": `{"data":[{"id":"g.gguf"}]}`, "/props": `{"default_generation_settings":{"n_ctx":4096},"modalities":{"vision":false}}`},
			Config{},
			"g.gguf", 4096, true,
		},
		"Ollama, loaded": {
			map[string]string{
				"/v1/models": two, "/api/ps": `{"models":[{"model":"small","context_length":8192}]}`,
				"/api/show": `{"parameters":"num_ctx 2048","capabilities":["completion","vision"]}`,
			},
			Config{Model: "small"},
			"small", 8192, false,
		},
		"Ollama, not loaded": {
			map[string]string{"/v1/models": two, "/api/ps": `{"models":[]}`, "/api/show": `{"parameters":"stop \"x y\"\nnum_ctx   2048","capabilities":["completion"]}`},
			Config{Model: "small"},
			"small", 2048, true,
		},
		"a window that cannot be": {map[string]string{"/v1/models": `{"data":[{"id":"m","max_model_len":-1}]}`, "/props": `{"default_generation_settings":{"n_ctx":1}}`}, Config{}, "m", pipeline.DefaultContextWindow, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			test.config.Server.URLs = []string{pages(t, test.texts)}
			m, err := NewChat(test.config)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer m.Close()
			g.Expect(m.Component().State).To(gomega.Equal(pipeline.StateLoading))
			g.Expect(m.Warm(t.Context())).To(gomega.Succeed())
			g.Expect(m.Component().State).To(gomega.Equal(pipeline.StateReady))
			g.Expect(m.Component().Name).To(gomega.Equal(test.model))
			g.Expect(m.ContextWindow()).To(gomega.Equal(test.window))
			g.Expect(m.blind()).To(gomega.Equal(test.blind))
			g.Expect(m.CountTokens("eight by")).To(gomega.Equal(2))
		})
	}
}

// The model of the file counts, or the one that the session names and the server has, or the only one.
func TestWhichModelIsAsked(t *testing.T) {
	for name, test := range map[string]struct{ list, configured, session, want, err string }{
		"the file":             {`{"data":[{"id":"a"},{"id":"b"}]}`, "b", "a", "b", ""},
		"the only one":         {`{"data":[{"id":"a"}]}`, "", "gpt-realtime", "a", ""},
		"the session":          {`{"data":[{"id":"a"},{"id":"b"}]}`, "", "b", "b", ""},
		"none":                 {`{"data":[{"id":"a"},{"id":"b"}]}`, "", "gpt-realtime", "", "no model is chosen (it has a, b)"},
		"unknown":              {`{"data":[{"id":"a"},{"id":"b"}]}`, "c", "", "", `does not have the model "c" (it has a, b)`},
		"no list, the session": {``, "", "x", "x", ""},
		"no list":              {``, "", "", "", "the server lists no models; set model in the configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f := serve(t, events(stop))
			f.models = test.list
			m, err := NewChat(Config{Model: test.configured, Server: remote.Config{URLs: []string{f.url}}})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer m.Close()
			if warm := m.Warm(t.Context()); test.configured == "c" {
				g.Expect(warm).To(gomega.MatchError(gomega.ContainSubstring(test.err)))
				g.Expect(m.Component().State).To(gomega.Equal(pipeline.StateFailed))
			}
			_, err = generate(t.Context(), m, pipeline.Request{Model: test.session})
			if test.err != "" {
				g.Expect(err).To(gomega.MatchError(gomega.And(gomega.HavePrefix("model: "+f.url), gomega.ContainSubstring(test.err))))
				return
			}
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(f.asked[0]).To(gomega.HaveKeyWithValue("model", test.want))
		})
	}
}

// llama.cpp answers 503 while it loads its model: Warm waits, and an answer says meanwhile that the model loads.
func TestAModelThatLoads(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked atomic.Int32
	begun, answered := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch n := asked.Add(1); {
		case r.Method == http.MethodPost:
			w.Header().Set("Content-Type", mimeSSE)
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
			asked.Add(-1)
		case n <= 2:
			if n == 1 {
				close(begun)
				<-answered
			}
			http.Error(w, `{"error":{"code":503,"message":"Loading model"}}`, http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", mimeJSON)
			_, _ = io.WriteString(w, `{"data":[{"id":"a"}]}`)
		}
	}))
	defer s.Close()
	m, err := NewChat(Config{Model: "a", Server: remote.Config{URLs: []string{s.URL}, Rounds: 1}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer m.Close()
	warm := make(chan error, 1)
	go func() { warm <- m.Warm(t.Context()) }()
	<-begun
	for range 2 {
		got, err := generate(t.Context(), m, pipeline.Request{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(got.Events).To(gomega.Equal([]string{"thinks"}))
	}
	close(answered)
	g.Expect(<-warm).To(gomega.Succeed())
	g.Expect(asked.Load()).To(gomega.BeNumerically(">=", 3))
	got, err := generate(t.Context(), m, pipeline.Request{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(got.Events).To(gomega.BeEmpty())
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	asked.Store(-100)
	g.Expect(m.Warm(short)).NotTo(gomega.Succeed())
	g.Expect(m.Component().State).To(gomega.Equal(pipeline.StateReady), "a Warm that was cancelled says nothing of the server")
}
