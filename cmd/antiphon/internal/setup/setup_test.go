package setup

// What setup finds at servers of all kinds, which offer it takes, and what it writes.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand starts a server that answers these paths with these texts, and all others with 404. It returns its address.
func stand(t *testing.T, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.URL.Path]
		switch {
		case r.URL.Path == answers["our own"]:
			w.Header().Set("Antiphon-Version", "1")
		case strings.HasPrefix(text, "401"):
			w.WriteHeader(http.StatusUnauthorized)
			text = strings.TrimPrefix(text, "401")
		case text == "hang":
			<-r.Context().Done()
			return
		case !known:
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// standTCP starts a server that answers the first line of each connection with a text. It returns its address.
func standTCP(t *testing.T, text string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(c).ReadString('\n')
			if strings.Contains(line, "describe") {
				_, _ = io.WriteString(c, text)
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "tcp://" + l.Addr().String()
}

// info is the description of a Wyoming service, with its data behind the line.
func info(data string) string {
	return fmt.Sprintf("{\"type\":\"info\",\"version\":\"1.8.0\",\"data_length\":%d}\n%s", len(data), data)
}

func noKeys(string) string { return "" }

func TestLook(t *testing.T) {
	for _, row := range []struct {
		name    string
		answers map[string]string
		says    string   // the name and the note
		offers  []string // stage, kind, model, voice, and the path of the URL
	}{
		{"Ollama", map[string]string{
			"/": "Ollama is running", "/api/version": `{"version":"0.9.1"}`, "/api/ps": `{"models":[{"name":"small:3b"}]}`,
			"/v1/models": `{"data":[{"id":"nomic-embed-text:latest"},{"id":"big:70b"},{"id":"small:3b"}]}`,
		}, "Ollama 0.9.1", []string{"llm openai small:3b  /v1", "llm openai big:70b  /v1"}},
		{"Ollama without a model", map[string]string{"/api/version": `{"version":"0.9.1"}`, "/v1/models": `{"data":null}`}, "Ollama 0.9.1 it has no model yet", nil},
		{"llama.cpp", map[string]string{"/props": `{"default_generation_settings":{}}`, "/v1/models": `{"data":[{"id":"m.gguf"}]}`}, "llama.cpp", []string{"llm openai m.gguf  /v1"}},
		{"LM Studio", map[string]string{
			"/api/v0/models": `{"data":[{"id":"a","type":"llm","state":"not-loaded"},{"id":"e","type":"embeddings"},{"id":"b","type":"vlm","state":"loaded"}]}`,
			"/v1/models":     `{"data":[{"id":"a"},{"id":"e"},{"id":"b"}]}`,
		}, "LM Studio", []string{"llm openai b  /v1", "llm openai a  /v1"}},
		{"vLLM", map[string]string{"/version": `{"version":"0.11.0"}`, "/v1/models": `{"data":[{"id":"Qwen/Qwen3-4B","owned_by":"vllm"}]}`}, "vLLM 0.11.0", []string{"llm openai Qwen/Qwen3-4B  /v1"}},
		{"vLLM with Whisper", map[string]string{"/v1/models": `{"data":[{"id":"openai/whisper-large-v3","owned_by":"vllm"}]}`}, "vLLM", []string{"stt openai openai/whisper-large-v3  /v1"}},
		{"speaches", map[string]string{
			"/v1/models": `{"data":[{"id":"Systran/faster-whisper-small","task":"automatic-speech-recognition"},{"id":"speaches-ai/Kokoro-82M","task":"text-to-speech","voices":[{"name":"am_adam"},{"name":"af_heart"}]}]}`,
		}, "speaches", []string{"stt openai Systran/faster-whisper-small  /v1", "tts openai speaches-ai/Kokoro-82M af_heart /v1"}},
		{"Kokoro-FastAPI", map[string]string{
			"/v1/models": `{"data":[{"id":"tts-1"},{"id":"kokoro"}]}`, "/v1/audio/voices": `{"voices":["af_alloy","af_bella"]}`,
		}, "Kokoro-FastAPI", []string{"tts openai kokoro af_bella /v1"}},
		{"Piper", map[string]string{"/voices": `{"en_US-lessac-medium":{"audio":{"sample_rate":22050}}}`}, "Piper", []string{"tts piper   "}},
		{"whisper.cpp", map[string]string{"/": "<title>Whisper.cpp Server</title>"}, "whisper.cpp", []string{"stt whisper.cpp   "}},
		{"LocalAI", map[string]string{
			"/": "<title>LocalAI</title>", "/v1/models": `{"data":[{"id":"gemma"},{"id":"whisper-1"},{"id":"voice-en-us-amy"},{"id":"stablediffusion"}]}`,
		}, "LocalAI", []string{"llm openai gemma  /v1", "stt openai whisper-1  /v1", "tts openai voice-en-us-amy  /v1"}},
		{"LiteLLM", map[string]string{
			"/health/liveliness": `"I'm alive!"`, "/v1/models": `{"data":[{"id":"gpt-4o","object":"model","owned_by":"openai"}],"object":"list"}`,
		}, "LiteLLM", []string{"llm openai gpt-4o  /v1"}},
		{
			"LiteLLM with a master key",
			map[string]string{"/health/liveliness": `"I'm alive!"`, "/v1/models": "401"},
			"LiteLLM it asks for a key: run export LITELLM_MASTER_KEY=… and then antiphon setup again",
			[]string{"llm openai   /v1"},
		},
		{"LiteLLM behind a proxy that hides its health", map[string]string{
			"/v1/models": `401{"error":{"message":"Authentication Error, No api key passed in.","type":"auth_error","param":"None","code":"401"}}`,
		}, "LiteLLM it asks for a key: run export LITELLM_MASTER_KEY=… and then antiphon setup again", []string{"llm openai   /v1"}},
		{"a server that is alive", map[string]string{"/health/liveliness": `{"alive":true}`, "/v1/models": `{"data":[]}`}, " it is no server of models that setup knows", nil},
		{"a server with a key", map[string]string{"/v1/models": "401"}, " it asks for a key: run export ANTIPHON_KEY_PORT=… and then antiphon setup again", []string{"llm openai   /v1"}},
		{"some page", map[string]string{"/": "<html>"}, " it is no server of models that setup knows", nil},
		{"a server of nonsense", map[string]string{
			"/api/version": `[]`, "/v1/models": `{"data":[{"id":7},{"id":"` + "x\x1b[31m" + `"}]}`, "/voices": `{"a":1}`, "/props": "null", "/api/ps": "[",
		}, " it is no server of models that setup knows", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			address := stand(t, row.answers)
			for _, asked := range []string{address, strings.TrimPrefix(address, "http://")} {
				found, err := Look(t.Context(), []string{asked}, noKeys)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(found).To(gomega.HaveLen(1))
				port := address[strings.LastIndex(address, ":")+1:]
				g.Expect(strings.TrimRight(found[0].Name+" "+found[0].Note, " ")).To(gomega.Equal(strings.ReplaceAll(row.says, "PORT", port)))
				var offers []string
				for _, o := range found[0].Offers {
					offers = append(offers, strings.Join([]string{o.Stage, o.Kind, o.Model, o.Voice, strings.TrimPrefix(o.URL, address)}, " "))
				}
				g.Expect(offers).To(gomega.Equal(row.offers))
			}
		})
	}
}

// standWithKey starts a server that answers paths below prefix to requests with the key "good" only.
func standWithKey(t *testing.T, prefix string, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.URL.Path]
		switch {
		case strings.HasPrefix(r.URL.Path, prefix) && r.Header.Get("Authorization") != "Bearer good":
			w.WriteHeader(http.StatusUnauthorized)
		case !known:
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A server that asks for a key is found, and the file names the variable with the key. With the key in that variable its models are found.
func TestServersThatAskForAKey(t *testing.T) {
	vLLM := map[string]string{"/version": `{"version":"0.11.0"}`, "/v1/models": `{"data":[{"id":"Qwen/Qwen3-4B","owned_by":"vllm"}]}`}
	llama := map[string]string{"/props": `{"default_generation_settings":{}}`, "/v1/models": `{"data":[{"id":"m.gguf","owned_by":"llamacpp"}]}`}
	other := map[string]string{"/v1/models": `{"data":[{"id":"whisper"}]}`}
	for _, row := range []struct {
		name, prefix string
		answers      map[string]string
		variable     string
		without      string // the stage and the model that are offered without a key
		with         string // the same with the key
	}{
		{"vLLM", "/v1/", vLLM, "VLLM_API_KEY", "llm ", "llm Qwen/Qwen3-4B"},
		{"llama.cpp", "/props", llama, "LLAMA_API_KEY", "llm m.gguf", "llm m.gguf"},
		{"another", "/", other, "ANTIPHON_KEY_PORT", "llm ", "stt whisper"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			address := standWithKey(t, row.prefix, row.answers)
			variable := strings.ReplaceAll(row.variable, "PORT", address[strings.LastIndex(address, ":")+1:])
			for _, test := range []struct{ key, says, offer string }{
				{"", "it asks for a key: run export " + variable + "=… and then antiphon setup again", row.without},
				{"good", "", row.with},
				{"bad", "it refuses the key in " + variable, ""},
			} {
				getenv := func(name string) string { return map[string]string{variable: test.key}[name] }
				found, err := Look(t.Context(), []string{address}, getenv)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(found).To(gomega.HaveLen(1))
				g.Expect(found[0].Note).To(gomega.Equal(test.says))
				if test.offer == "" {
					g.Expect(found[0].Offers).To(gomega.BeEmpty())
					continue
				}
				o := found[0].Offers[0]
				g.Expect([]string{o.Stage + " " + o.Model, o.URL, o.KeyEnv}).To(gomega.Equal([]string{test.offer, address + "/v1", variable}))
				best := Best(Known(append(OpenAI(), o)))
				g.Expect(best).To(gomega.ContainElement(o), "a server of the user's own comes before a service that charges")
				text, err := Text(best, "")
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(text).To(gomega.ContainSubstring("key_env: " + variable))
			}
		})
	}
}

// Nobody at an address, a server that hangs, and a server of ours are no servers of models.
func TestLookFindsNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	free := "http://" + l.Addr().String()
	g.Expect(l.Close()).To(gomega.Succeed())
	ours := stand(t, map[string]string{"our own": "/v1/models"})
	hangs := stand(t, map[string]string{"/": "hang", "/v1/models": "hang", "/api/version": "hang", "/api/ps": "hang", "/props": "hang", "/version": "hang", "/api/v0/models": "hang", "/v1/audio/voices": "hang", "/voices": "hang", "/health/liveliness": "hang"})
	begin := time.Now()
	found, err := Look(t.Context(), []string{free, ours, hangs, standTCP(t, "HTTP/1.0 400\n"), standTCP(t, "{\"type\":\"info\",\"data_length\":99999999}\n")}, noKeys)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(found).To(gomega.BeEmpty())
	g.Expect(time.Since(begin)).To(gomega.BeNumerically("<", 3*answerWithin))
	for _, wrong := range []string{"", "here", "http://here", "ftp://a:1", "http://u:p@a:1"} {
		_, err := Look(t.Context(), []string{wrong}, noKeys)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("want an address such as")), wrong)
	}
	_, err = Look(t.Context(), make([]string, maxAddresses+1), noKeys)
	g.Expect(err).To(gomega.HaveOccurred())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Look(gone, []string{ours}, noKeys)
	g.Expect(err).To(gomega.MatchError(context.Canceled))
}

func TestWyoming(t *testing.T) {
	for _, row := range []struct{ name, text, says, offers string }{
		{"a recogniser", info(`{"asr":[{"name":"faster-whisper","installed":true,"models":[]}],"tts":[]}`), "Wyoming faster-whisper", "stt wyoming"},
		{"a synthesizer", info(`{"tts":[{"name":"gone","installed":false},{"name":"piper"}]}`), "Wyoming piper", "tts wyoming"},
		{"data in the line", `{"type":"info","data":{"tts":[{"name":"piper"}]}}` + "\n", "Wyoming piper", "tts wyoming"},
		{"a wake word", info(`{"wake":[{"name":"x"}]}`), "Wyoming it has neither a recogniser nor a synthesizer", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			address := standTCP(t, row.text)
			found, err := Look(t.Context(), []string{address}, noKeys)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(found).To(gomega.HaveLen(1))
			g.Expect(strings.TrimSpace(found[0].Name + " " + found[0].Note)).To(gomega.Equal(row.says))
			if row.offers == "" {
				g.Expect(found[0].Offers).To(gomega.BeEmpty())
				return
			}
			o := found[0].Offers[0]
			g.Expect([]string{o.Stage + " " + o.Kind, o.URL}).To(gomega.Equal([]string{row.offers, address}))
		})
	}
}

// The best offer of a stage is that of a server made for the stage, then OpenAI's, then what is built in.
func TestBest(t *testing.T) {
	g := gomega.NewWithT(t)
	local := Offer{Server: "vLLM", Stage: config.LLM, Kind: kindOpenAI, Model: "b", rank: 10 * rank(config.LLM, "vLLM")}
	better := Offer{Server: "Ollama 1", Stage: config.LLM, Kind: kindOpenAI, Model: "a", rank: 10 * rank(config.LLM, "Ollama 1")}
	unknown := Offer{Server: "Ollama 1", Stage: config.LLM, Kind: "none of ours", rank: -1}
	best := Best(Known(append(OpenAI(), local, better, unknown)))
	g.Expect(best[0].Server).To(gomega.Equal("OpenAI"))
	g.Expect(best[1].Model).To(gomega.Equal("a"))
	g.Expect(Best(Known(nil))[2].String()).To(gomega.Equal("the best that is on this machine, built in"))
}

func TestChoose(t *testing.T) {
	offers := Known([]Offer{{Server: "A", Stage: config.LLM, Kind: kindOpenAI, Model: "a"}, {Server: "B", Stage: config.LLM, Kind: kindOpenAI, Model: "b", rank: 1}})
	for _, row := range []struct{ name, in, model, says string }{
		{"the first", "\n", "a", ""},
		{"the second", "2\n", "b", ""},
		{"the second after mistakes", "9\nx\n2\n", "b", "Want a number from 1 to 3"},
		{"only mistakes", "9\nx\n0\n2\n", "", "no number was given"},
		{"nobody", "", "", "--yes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var out strings.Builder
			chosen, err := NewPerson(strings.NewReader(row.in), &out).Choose(offers)
			if row.model == "" {
				g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
				return
			}
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(chosen[1].Model).To(gomega.Equal(row.model))
			g.Expect(out.String()).To(gomega.ContainSubstring(row.says))
		})
	}
}

// The file is one that config reads, whatever the names of models are. It keeps the sections server and session.
func TestText(t *testing.T) {
	g := gomega.NewWithT(t)
	chosen := Best(Known([]Offer{{Server: "A", Stage: config.LLM, Kind: kindOpenAI, URL: "http://a:1/v1", Model: "yes: # 'x'\n- \"y\""}}))
	before := "# mine\nserver:\n  # few\n  max-sessions: 3\nllm: {kind: assistant}\nsession: {instructions: Hi}\nstt:\n  kind: scripted\n"
	text, err := Text(chosen, before)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	f, err := config.Parse("antiphon.yaml", []byte(text), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(f.LLM.Fields().(*config.OpenAILLM).Model).To(gomega.Equal("yes: # 'x'\n- \"y\""))
	g.Expect(f.STT.Kind()).To(gomega.Equal("sherpa"))
	g.Expect(f.Session.Instructions).To(gomega.Equal("Hi"))
	g.Expect(text).To(gomega.ContainSubstring("server:\n  # few\n  max-sessions: 3\nsession: {instructions: Hi}\nllm:\n"))
	g.Expect(text).NotTo(gomega.MatchRegexp("(?m)^(stt|tts):"), "what is built in may become better")
}

func TestWriteKeepsBackups(t *testing.T) {
	g := gomega.NewWithT(t)
	path := filepath.Join(t.TempDir(), "antiphon.yaml")
	for i, want := range []string{"", path + ".1.bak", path + ".2.bak"} {
		backup, err := Write(path, fmt.Sprint(i))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(backup).To(gomega.Equal(want))
		g.Expect(os.ReadFile(path)).To(gomega.BeEquivalentTo(fmt.Sprint(i)))
	}
	g.Expect(os.ReadFile(path + ".2.bak")).To(gomega.BeEquivalentTo("1"))
	files, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(files).To(gomega.HaveLen(3), "no temporary file is left")
}

// A name that would control a terminal, fill it, or show its characters in another order, is not offered.
func TestHostileNamesAreNotOffered(t *testing.T) {
	g := gomega.NewWithT(t)
	all := offers("http://a:1/v1", []model{{ID: "qwen3\x1b[31m"}, {ID: "qwen3\u202e"}, {ID: "qwen3\n"}, {ID: strings.Repeat("q", maxName+1)}, {ID: "qwen3:8b"}}, nil)
	g.Expect(all).To(gomega.ConsistOf(gomega.HaveField("Model", "qwen3:8b")))
}
