package browser_test

// Models of the user's own: setup finds stand-ins of Ollama, speaches and Kokoro-FastAPI, and the Talk page talks with them.

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// standIns are servers that answer as Ollama, speaches and Kokoro-FastAPI do. They recognise and speak the tones of the scripted pipeline.
type standIns struct {
	speech *pipeline.Pipeline
	spoken atomic.Value   // the text that was spoken last
	closed chan time.Time // when a client closed the request of a long answer
}

func startStandIns(t *testing.T) *standIns {
	t.Helper()
	s := &standIns{speech: scripted.New(scripted.Options{}), closed: make(chan time.Time, 8)}
	ollama, speaches, kokoro := http.NewServeMux(), http.NewServeMux(), http.NewServeMux()
	object := func(mux *http.ServeMux, path, text string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text))
		})
	}
	object(ollama, "/api/version", `{"version":"0.9.1"}`)
	object(ollama, "/v1/models", `{"data":[{"id":"small:3b"}]}`)
	ollama.HandleFunc("POST /v1/chat/completions", s.chat)
	object(speaches, "/v1/models", `{"data":[{"id":"whisper","task":"automatic-speech-recognition"}]}`)
	speaches.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	object(kokoro, "/v1/models", `{"data":[{"id":"kokoro"}]}`)
	object(kokoro, "/v1/audio/voices", `{"voices":["af_heart"]}`)
	kokoro.HandleFunc("POST /v1/audio/speech", s.speak)
	for address, mux := range map[string]*http.ServeMux{"127.0.0.1:11434": ollama, "127.0.0.1:8000": speaches, "127.0.0.1:8880": kokoro} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		server := httptest.NewUnstartedServer(mux)
		_ = server.Listener.Close() // the free port, which nobody has used
		server.Listener = listener
		server.Start()
		t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	}
	return s
}

// chat streams an answer: a tool call for a question about the weather, a story that does not end, or the question.
func (s *standIns) chat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Role, Content string }
		Tools    []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta string) {
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%s}}]}\n\n", delta)
		w.(http.Flusher).Flush()
	}
	last := body.Messages[len(body.Messages)-1].Content
	switch {
	case strings.Contains(last, "story"):
		s.story(r, send)
		return
	case strings.Contains(last, "weather") && len(body.Tools) == 1:
		send(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"get_weather","arguments":""}}]`)
		send(`"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Oslo\"}"}}]`)
	default:
		for _, word := range strings.Fields("You asked: " + last) {
			text, _ := json.Marshal(word + " ")
			send(`"content":` + string(text))
		}
	}
	_, _ = w.Write([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
}

// story sends sentences until the client closes the request.
func (s *standIns) story(r *http.Request, send func(delta string)) {
	next := time.NewTicker(100 * time.Millisecond)
	defer next.Stop()
	for {
		send(`"content":"And then one more thing happened. "`)
		select {
		case <-r.Context().Done():
			s.closed <- time.Now()
			return
		case <-next.C:
		}
	}
}

// transcribe reads the tones of a recording.
func (s *standIns) transcribe(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pcm, _, err := wav.ReadAll(file, 60*pipeline.InputRate)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u, err := s.speech.Transcriber.Open(r.Context(), pipeline.TranscribeConfig{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer u.Close()
	samples := make([]float32, len(pcm))
	for i, v := range pcm {
		samples[i] = float32(v) / 32768
	}
	_ = u.Write(samples) // an error is a result
	_ = u.CloseInput()
	text := ""
	for result := range u.Results() {
		text = result.Text
	}
	if spoken, _ := s.spoken.Load().(string); strings.HasPrefix(text, "speech of ") {
		text = spoken // the tones of the synthesizer are no message for the recogniser
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"text": text})
}

// speak sends the tones of a text as raw PCM.
func (s *standIns) speak(w http.ResponseWriter, r *http.Request) {
	var body struct{ Input string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.spoken.Store(body.Input)
	w.Header().Set("Content-Type", "audio/pcm")
	_ = s.speech.Synthesizer.Synthesize(r.Context(), pipeline.Utterance{Text: body.Input}, func(pcm []int16) error { // the client sees the end
		err := binary.Write(w, binary.LittleEndian, pcm)
		w.(http.Flusher).Flush()
		return err
	})
}

// inItsNetwork is the environment variable of a test that runs in a network of its own.
const inItsNetwork = "ANTIPHON_TEST_IN_ITS_NETWORK"

// network has the commands that make the network: the loopback device, and a device with an address and a default route, without which a
// browser places no calls.
const network = `
ip link set lo up
ip link add net type veth peer name end
ip link set end up
ip addr add 10.9.0.2/24 dev net
ip link set net up
ip route add default via 10.9.0.1
`

// ownNetwork runs the test again in a network that leads nowhere, so that every port is free. It reports whether the test runs there already.
func ownNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inItsNetwork) != "" {
		return true
	}
	args := []string{"--net"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	args = append(args, "sh", "-ec", network+`exec "$0" "$@"`, os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd := exec.CommandContext(t.Context(), "unshare", args...)
	cmd.Env = append(os.Environ(), inItsNetwork+"=yes")
	said, err := cmd.CombinedOutput()
	t.Logf("in its network:\n%s", said)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return false
}

// TestOwnModels: in a folder without a configuration of stages, `antiphon setup --yes && antiphon serve` gives a Talk page that hears, answers, is
// interrupted, and calls a tool, with the models of three servers at their usual ports.
func TestOwnModels(t *testing.T) {
	if !ownNetwork(t) {
		return
	}
	g := matching(t)
	s := startStandIns(t)
	folder := t.TempDir()
	tools := "session:\n  tools:\n    - {type: function, name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}\n"
	g.Expect(os.WriteFile(filepath.Join(folder, "antiphon.yaml"), []byte(tools), 0o600)).To(gomega.Succeed())
	antiphon, err := filepath.Abs(root + "/bin/antiphon")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	setup, served := exec.CommandContext(t.Context(), antiphon, "setup", "--yes"), exec.Command(antiphon, "serve")
	setup.Dir, served.Dir = folder, folder
	said, err := setup.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(said))
	g.Expect(string(said)).To(gomega.ContainSubstring("Everything works."))

	server, err := rig.Run(served)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(server.Kill)
	g.Expect(server.URL).To(gomega.Equal("http://127.0.0.1:8080"))
	p := open(t, g, launch(t, g, rig.Options{}), server.URL)
	g.Eventually(p.View).Should(gomega.HaveField("Components", gomega.ConsistOf(
		gomega.HaveField("Text", gomega.ContainSubstring("text after")),
		gomega.HaveField("Text", gomega.ContainSubstring("first token after")),
		gomega.HaveField("Text", gomega.ContainSubstring("first audio after")),
	)))
	p.call()
	p.says(tones(t, g, "are you there"))
	p.line("user", gomega.HaveField("Said", "are you there"))
	p.answered("You asked: are you there")
	p.reaches("listening")

	p.says(tones(t, g, "tell me a story"))
	p.line("assistant", gomega.HaveField("Said", gomega.ContainSubstring("one more thing")))
	before, err := p.Heard()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p.hears(time.Duration(before.LoudMS)*time.Millisecond + 2*time.Second) // who goes on sooner goes on with the same turn
	p.says(tones(t, g, "what is the weather in oslo"))
	g.Eventually(s.closed).Should(gomega.Receive(), "the interruption closes the request")
	p.line("assistant", gomega.HaveField("Interrupted", true))
	p.line("tool", gomega.HaveField("Said", gomega.ContainSubstring("get_weather")))
	p.picture("own-models")
	p.hangUp()
}
