package config

// The kinds of synthesizers that are servers, from the file to the sound.

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestSpeechOverHTTP(t *testing.T) {
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body)
		pcm := make([]byte, 1600)
		if r.URL.Path == "/synthesize" {
			_, _ = w.Write(wav.Header(16000, len(pcm)))
		}
		_, _ = w.Write(pcm)
	}))
	t.Cleanup(s.Close)
	for src, want := range map[string]string{
		"{kind: openai, url: URL/v1, model: kokoro, voice: af_heart, rate: 16000, key_env: KEY, voices: {alloy: am_adam}}": `POST/v1/audio/speech Bearer sk-1 {"input":"Hello.","model":"kokoro","response_format":"pcm","voice":"am_adam"}`,
		"{kind: piper, url: URL, voice: joe, options: {speaker_id: 3}}":                                                    `POST/synthesize  {"speaker_id":3,"text":"Hello.","voice":"joe"}`,
	} {
		g := gomega.NewWithT(t)
		f, err := Parse("antiphon.yaml", []byte("tts: "+strings.ReplaceAll(src, "URL", s.URL)), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := f.Pipeline(t.Context(), Env{Getenv: func(string) string { return "sk-1" }})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		samples := 0
		err = p.Synthesizer.Synthesize(t.Context(), pipeline.Utterance{Text: "Hello.", Voice: "alloy"}, func(pcm []int16) error {
			samples += len(pcm)
			return nil
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(samples).To(gomega.Equal(800 * pipeline.OutputRate / 16000))
		g.Expect(asked).To(gomega.Equal(want))
		g.Expect(p.Close()).To(gomega.Succeed())
	}
	for says, src := range map[string]string{
		"tts (kind openai): url: no address": "{kind: openai}",
		"tts (kind openai): rate: ":          "{kind: openai, url: 'http://a', rate: 12345}",
		`options: "voice"`:                   "{kind: piper, url: 'http://a', options: {voice: x}}",
	} {
		g := gomega.NewWithT(t)
		f, err := Parse("antiphon.yaml", []byte("tts: "+src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = f.Pipeline(t.Context(), Env{})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
}
