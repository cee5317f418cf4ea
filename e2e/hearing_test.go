package e2e

// A model that hears: in a call, the user's speech reaches its server as audio.

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// heardBody is a request with audio for /v1/chat/completions.
type heardBody struct {
	Messages []struct{ Content json.RawMessage }
}

// last returns the WAV file that the last message consists of; nil for another message.
func (b heardBody) last() []byte {
	var parts []struct {
		Type  string
		Audio struct{ Data []byte } `json:"input_audio"`
	}
	if json.Unmarshal(b.Messages[len(b.Messages)-1].Content, &parts) != nil || len(parts) != 1 {
		return nil
	}
	return parts[0].Audio.Data
}

// TestAModelThatHears: the model answers what it hears in the audio of the newest turn.
func TestAModelThatHears(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b heardBody
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		pcm, rate, err := wav.ReadAll(bytes.NewReader(b.last()), 60*pipeline.AudioRate)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := words(r.Context(), resampled(voice.PCM16ToBytes(nil, pcm), rate))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chunk("You said: "+text)+"data: [DONE]\n\n")
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	text := strings.ReplaceAll("stt: {kind: scripted}\nllm: {kind: openai, url: URL/v1, model: m, hears: true}\ntts: {kind: scripted}\n", "URL", s.URL)
	f, err := config.Parse("antiphon.yaml", []byte(text), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), config.Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := call(t, callOptions{url: open(t, nil, func(c *server.Config) { c.Pipeline = p }).url})
	c.voiceTurn("are you there")
	c.voiceTurn("and once more")
}
