package main

// `antiphon setup` from the look to the trial, with stand-ins of servers on free ports.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// standIns starts a server like Ollama and one like speaches. It returns their addresses.
func standIns(t *testing.T) []string {
	t.Helper()
	ollama, speaches := http.NewServeMux(), http.NewServeMux()
	answer := func(mux *http.ServeMux, path, kind, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = fmt.Fprint(w, text)
		})
	}
	answer(ollama, "GET /api/version", "application/json", `{"version":"0.9.1"}`)
	answer(ollama, "GET /v1/models", "application/json", `{"data":[{"id":"one:3b"},{"id":"two:8b"}]}`)
	answer(ollama, "POST /v1/chat/completions", "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"Hello there.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	answer(speaches, "GET /v1/models", "application/json", `{"data":[{"id":"small","task":"automatic-speech-recognition"}]}`)
	answer(speaches, "POST /v1/audio/transcriptions", "application/json", `{"text":"hello this is a test"}`)
	var addresses []string
	for _, mux := range []*http.ServeMux{ollama, speaches} {
		s := httptest.NewServer(mux)
		t.Cleanup(s.Close)
		addresses = append(addresses, s.URL)
	}
	return addresses
}

func noKey(string) string { return "" }

// TestSetup: setup finds the servers, writes the file for them, and tries them.
func TestSetup(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	at := standIns(t)
	var out strings.Builder
	g.Expect((&setup{Yes: true, At: at, File: config.Name}).run(t.Context(), strings.NewReader(""), &out, noKey)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.MatchRegexp(`Ollama 0\.9\.1 +` + at[0] + `: llm one:3b, two:8b\n`))
	g.Expect(out.String()).To(gomega.MatchRegexp(`transcriber +\S+ +ready .*hello this is a test\n`))
	g.Expect(out.String()).To(gomega.MatchRegexp(`model +one:3b +ready .* Hello there\.\n`))
	g.Expect(out.String()).To(gomega.HaveSuffix("\nTalk with it: antiphon serve\n"))
	file, err := config.Load(config.Name, nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect([]string{file.STT.Kind(), file.LLM.Kind(), file.TTS.Kind()}).To(gomega.Equal([]string{"openai", "openai", "flite"}))
	g.Expect(file.LLM.Fields().(*config.OpenAILLM).URL).To(gomega.Equal([]string{at[0] + "/v1"}))

	// A file that is there is replaced by who agrees only, and kept as a backup.
	before, err := os.ReadFile(config.Name)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	again := setup{At: at, File: config.Name}
	err = again.run(t.Context(), strings.NewReader("\n2\nno\n"), new(strings.Builder), noKey)
	g.Expect(err).To(gomega.MatchError(errNothing))
	g.Expect(os.ReadFile(config.Name)).To(gomega.Equal(before))
	g.Expect(again.run(t.Context(), strings.NewReader("\n2\nyes\n"), new(strings.Builder), noKey)).To(gomega.Succeed())
	g.Expect(os.ReadFile(config.Name)).To(gomega.ContainSubstring("two:8b"))
	g.Expect(os.ReadFile(config.Name + ".1.bak")).To(gomega.Equal(before))

	// Of a file with mistakes nothing is kept but the backup.
	broken := "server: {max-sesions: 3}\nsession: [\n"
	g.Expect(os.WriteFile(config.Name, []byte(broken), 0o600)).To(gomega.Succeed())
	out.Reset()
	g.Expect((&setup{Yes: true, At: at, File: config.Name}).run(t.Context(), strings.NewReader(""), &out, noKey)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.ContainSubstring("has mistakes, so nothing of it is kept but the backup:\nantiphon.yaml:2:"))
	g.Expect(os.ReadFile(config.Name + ".2.bak")).To(gomega.BeEquivalentTo(broken))
}

// Setup writes the file for a server that asks for a key. As long as the key is not in its variable, doctor says which one to set.
func TestSetupWithAKey(t *testing.T) {
	g := gomega.NewWithT(t)
	models, err := filepath.Abs("../../.cache/models")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Setenv("ANTIPHON_MODELS", models)
	t.Chdir(t.TempDir())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"version":"0.11.0"}`) })
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer good":
			http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"data":[{"id":"one","owned_by":"vllm"}]}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hello there.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := setup{Yes: true, At: []string{server.URL}, File: config.Name}
	var out strings.Builder
	err = s.run(t.Context(), strings.NewReader(""), &out, os.Getenv)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("run export VLLM_API_KEY=… before the server starts")))
	g.Expect(out.String()).To(gomega.ContainSubstring("it asks for a key: run export VLLM_API_KEY=… and then antiphon setup again"))
	g.Expect(os.ReadFile(config.Name)).To(gomega.ContainSubstring("key_env: VLLM_API_KEY"))

	t.Setenv("VLLM_API_KEY", "bad")
	out.Reset()
	g.Expect((&doctor{Config: config.Name}).run(t.Context(), &out)).To(gomega.MatchError(errNotWorking))
	g.Expect(out.String()).To(gomega.ContainSubstring("check key_env or key_file in the configuration"))
	out.Reset()
	g.Expect(s.run(t.Context(), strings.NewReader(""), &out, os.Getenv)).To(gomega.MatchError(errNothing))
	g.Expect(out.String()).To(gomega.ContainSubstring("it refuses the key in VLLM_API_KEY"))
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("No server of models answers"))

	t.Setenv("VLLM_API_KEY", "good")
	out.Reset()
	g.Expect(s.run(t.Context(), strings.NewReader(""), &out, os.Getenv)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.MatchRegexp(`model +one +ready .* Hello there\.\n`))
	g.Expect(os.ReadFile(config.Name)).To(gomega.ContainSubstring("model: one\n  key_env: VLLM_API_KEY"))
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("good"))
}

// Setup says where it looked, and writes nothing, if there is no server. A key of OpenAI is an offer, and the file names its variable alone.
func TestSetupWithoutServers(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	var out strings.Builder
	nowhere := "http://127.0.0.1:1"
	s := setup{Yes: true, At: []string{nowhere}, File: config.Name}
	g.Expect(s.run(t.Context(), strings.NewReader(""), &out, noKey)).To(gomega.MatchError(errNothing))
	g.Expect(out.String()).To(gomega.ContainSubstring("Looked at:\n  " + nowhere))
	g.Expect(config.Name).NotTo(gomega.BeAnExistingFile())
	s.Yes = false
	out.Reset()
	err := s.run(t.Context(), strings.NewReader(""), &out, func(string) string { return "sk-secret" })
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("--yes")))
	g.Expect(out.String()).To(gomega.ContainSubstring("goes to api.openai.com"))
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("sk-secret"))
}
