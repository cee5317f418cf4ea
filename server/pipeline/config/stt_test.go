package config

// The kinds of recognisers that are servers, from the file to the transcript.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestRecognisersOverHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"text":"%s %s %s %s %s"}`, r.URL.Path, r.FormValue("model"), r.FormValue("language"), r.FormValue("response_format"), r.Header.Get("Authorization"))
	}))
	t.Cleanup(s.Close)
	for want, src := range map[string]string{
		"/v1/audio/transcriptions small de json Bearer sk-1": "{kind: openai, url: URL/v1, model: small, language: de, key_env: KEY}",
		"/inference en verbose_json":                         "{kind: whisper.cpp, url: URL, language: en, no_partials: true}",
	} {
		t.Run(want, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f, err := Parse("antiphon.yaml", []byte("stt: "+strings.ReplaceAll(src, "URL", s.URL)), nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			p, err := f.Pipeline(t.Context(), Env{Getenv: func(string) string { return "sk-1" }})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer func() { g.Expect(p.Close()).To(gomega.Succeed()) }()
			u, err := p.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer u.Close()
			g.Expect(u.Write(make([]float32, 1600))).To(gomega.Succeed())
			g.Expect(u.CloseInput()).To(gomega.Succeed())
			g.Expect((<-u.Results()).Text).To(gomega.Equal(want))
			g.Expect(p.Components()[0].State).To(gomega.Equal(pipeline.StateReady))
		})
	}
	for says, src := range map[string]string{
		"stt (kind openai): url: no address":                 "{kind: openai}",
		"stt (kind openai-realtime): model: servers of":      "{kind: openai-realtime, url: 'http://a', form: vllm}",
		"stt (kind grpc): url: \"tcp://a:1\" is no address":  "{kind: grpc, url: 'tcp://a:1'}",
		"stt (kind openai-realtime): url: no address":        "{kind: openai-realtime}",
		"stt (kind openai): stream: a stream has no verbose": "{kind: openai, url: 'http://a', stream: true, format: verbose_json}",
		"stt (kind whisper.cpp): the environment variable K": "{kind: whisper.cpp, url: 'http://a', key_env: K}",
	} {
		g := gomega.NewWithT(t)
		f, err := Parse("antiphon.yaml", []byte("stt: "+src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = f.Pipeline(t.Context(), Env{Getenv: func(string) string { return "" }})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
}
