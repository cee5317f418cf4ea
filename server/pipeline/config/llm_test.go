package config

// The kinds of models that are servers, from the file to the answer.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestModelsOverHTTP(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model       string
			Temperature float64
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s %.1f %s\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", body.Model, body.Temperature, r.Header.Get("Authorization"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	g := gomega.NewWithT(t)
	src := "llm: {kind: openai, url: URL/v1, model: small, key_env: KEY, options: {temperature: 0.5}, hears: true}"
	f, err := Parse("antiphon.yaml", []byte(strings.ReplaceAll(src, "URL", s.URL)), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), Env{Getenv: func(string) string { return "sk-1" }})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(p.Close()).To(gomega.Succeed()) }()
	said := ""
	_, err = p.Model.Generate(t.Context(), pipeline.Request{Messages: []pipeline.Message{{Role: pipeline.RoleUser, Text: "hi"}}}, func(e pipeline.ModelEvent) error {
		if d, is := e.(pipeline.TextDelta); is {
			said += d.Text
		}
		return nil
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(said).To(gomega.Equal("small 0.5 Bearer sk-1"))
	g.Expect(p.Model.(pipeline.AudioModel).HearsAudio()).To(gomega.BeTrue())
	for says, src := range map[string]string{
		"antiphon.yaml:1: llm (kind openai): url: no address": "{kind: openai}",
		`llm (kind openai-responses): options: "n"`:           "{kind: openai-responses, url: 'http://a', options: {n: 2}}",
		`llm (kind openai-responses): hears`:                  "{kind: openai-responses, url: 'http://a', hears: true}",
	} {
		f, err := Parse("antiphon.yaml", []byte("llm: "+src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = f.Pipeline(t.Context(), Env{})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
}
