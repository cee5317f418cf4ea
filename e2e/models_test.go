package e2e

// A model and a synthesizer on servers of the user's own: in calls they answer, are interrupted, and misbehave.

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
	"github.com/antiphon-rt/antiphon/wire"
)

// modelServer is a stand-in for a server with /v1/chat/completions and /v1/audio/speech. The last message of the user says what it does.
type modelServer struct {
	url    string
	closed chan struct{} // the request of an endless answer was closed

	mu    sync.Mutex
	asked []chatRequest
}

type chatRequest struct {
	Messages []chatMessage
}

type chatMessage struct {
	Role, Content string
	ToolCallID    string `json:"tool_call_id"`
	ToolCalls     []struct {
		ID       string
		Function struct{ Arguments string }
	} `json:"tool_calls"`
}

func newModelServer(t *testing.T) *modelServer {
	t.Helper()
	m := &modelServer{closed: make(chan struct{}, 10)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.chat)
	mux.HandleFunc("POST /v1/audio/speech", m.speech)
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	m.url = s.URL + "/v1"
	return m
}

// last returns the newest request for an answer.
func (m *modelServer) last() chatRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

func chunk(text string) string {
	content, _ := json.Marshal(text)
	return `data: {"choices":[{"delta":{"content":` + string(content) + `}}]}` + "\n\n"
}

func (m *modelServer) chat(w http.ResponseWriter, r *http.Request) {
	var q chatRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	m.mu.Lock()
	m.asked = append(m.asked, q)
	m.mu.Unlock()
	text := q.Messages[len(q.Messages)-1].Content
	send := func(text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	switch {
	case strings.Contains(text, "cut"):
		send(chunk("This goes "))
		panic(http.ErrAbortHandler)
	case strings.Contains(text, "stall"):
		send(chunk("This goes "))
		<-r.Context().Done()
	case strings.Contains(text, "silent"):
		<-r.Context().Done()
	case strings.Contains(text, "refuse"):
		http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
	case strings.Contains(text, "broken"):
		http.Error(w, "out of memory", http.StatusInternalServerError)
	case strings.Contains(text, "page"):
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>")
	case strings.Contains(text, "garbage"):
		send(chunk("This goes ") + "data: {]\n\n")
	case strings.Contains(text, "megabyte"):
		send(chunk(strings.Repeat("long ", 200_000)))
	case strings.Contains(text, "essay"):
		for r.Context().Err() == nil {
			send(chunk("and so it goes on, "))
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
		m.closed <- struct{}{}
	default:
		send(`data: {"choices":[{"delta":{"reasoning":"hm"}}]}` + "\n\n" + chunk("<think>a secret</think>You said: "+text) + "data: [DONE]\n\n")
	}
}

// speech speaks with 60 ms of a tone for each character.
func (m *modelServer) speech(w http.ResponseWriter, r *http.Request) {
	var q struct{ Input string }
	_ = json.NewDecoder(r.Body).Decode(&q) // a text that cannot be read is silence
	w.Header().Set("Content-Type", "audio/pcm")
	for i := range len(q.Input) {
		pcm := make([]int16, 60*24)
		for j := range pcm {
			pcm[j] = int16(6000 * math.Sin(2*math.Pi*300*float64(i*len(pcm)+j)/24000))
		}
		if _, err := w.Write(voice.PCM16ToBytes(nil, pcm)); err != nil {
			return
		}
		if strings.Contains(q.Input, "croak") && i == 3 {
			panic(http.ErrAbortHandler)
		}
	}
}

// openModels runs a server whose model and synthesizer are those of m.
func openModels(t *testing.T, m *modelServer) *house {
	t.Helper()
	g := gomega.NewWithT(t)
	f, err := config.Parse("antiphon.yaml", []byte(strings.ReplaceAll(`
stt: {kind: scripted}
llm: {kind: openai, url: URL, model: m, timeout: {first_byte: 3s, idle: 3s}}
tts: {kind: openai, url: URL, timeout: {first_byte: 5s, idle: 5s}}
`, "URL", m.url)), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), config.Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return open(t, nil, func(c *server.Config) { c.Pipeline = p })
}

// TestModelServersThatFail: each fault of a server ends its response once, as failed, and the session goes on.
func TestModelServersThatFail(t *testing.T) {
	t.Parallel()
	m := newModelServer(t)
	c := call(t, callOptions{url: openModels(t, m).url, webSocket: true})
	answers := 0
	for _, fault := range []string{"cut", "stall", "silent", "refuse", "broken", "page", "garbage", "megabyte", "croak"} {
		c.ask("please " + fault)
		done := nextOf[*wire.ResponseDone](c)
		c.Expect(done.Response.Status).To(gomega.Equal("failed"), fault)
		code := "model_failed"
		if fault == "croak" {
			code = "synthesizer_failed"
		}
		c.Expect(done.Response.StatusDetails.Error.Code).To(gomega.Equal(code), fault)
		c.ask("hello")
		done = nextOf[*wire.ResponseDone](c)
		c.Expect(done.Response.Status).To(gomega.Equal("completed"), "after "+fault)
		c.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.Equal("You said: hello"))
		answers += 2
		c.Expect(c.count("response.done")).To(gomega.Equal(answers))
	}
}

// TestABargeInClosesTheRequest: the user interrupts an endless answer. Its request is closed, and the model hears what the user has heard.
func TestABargeInClosesTheRequest(t *testing.T) {
	t.Parallel()
	m := newModelServer(t)
	c := call(t, callOptions{url: openModels(t, m).url})
	c.say("tell me an essay")
	c.begin()
	c.hear(time.Second)
	c.say("never mind, let us go on")
	c.Expect(nextOf[*wire.ResponseDone](c).Response.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
	c.Eventually(m.closed, patience).Should(gomega.Receive())
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.ContainSubstring("never mind, let us go on"))
	messages := m.last().Messages
	c.Expect(messages).To(gomega.HaveLen(4), fmt.Sprint(messages)) // the first one has the instructions
	c.Expect(messages[2].Content).To(gomega.HavePrefix("and so it goes on"))
	c.Expect(len(messages[2].Content)).To(gomega.BeNumerically("<", 100), "only what was heard")
	c.Expect(messages[3].Content).To(gomega.Equal("[The user interrupted your answer. They heard only the part of it that is written above.]\nnever mind, let us go on"))
	c.Expect(c.count("antiphon.response.progress")).To(gomega.BeNumerically(">=", 1), "the second answer has a thought")
}
