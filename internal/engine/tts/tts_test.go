package tts

// Synthesizers on servers: their requests, the sound that they read, and servers that misbehave.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/badserver"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// fakeServer sends the same sound for each request, and keeps the requests.
type fakeServer struct {
	url string

	mu    sync.Mutex
	asked []string // path and body
	kind  string   // media type
	sound string
	list  string // the answer of the lists of voices; empty: 404
}

func serve(t *testing.T, kind, sound string) *fakeServer {
	t.Helper()
	f := &fakeServer{kind: kind, sound: sound}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if f.list == "" {
				http.NotFound(w, r)
			}
			_, _ = io.WriteString(w, f.list)
			return
		}
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.asked = append(f.asked, r.URL.Path+" "+string(body))
		f.mu.Unlock()
		w.Header().Set("Content-Type", f.kind)
		_, _ = io.WriteString(w, f.sound)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	f.url = s.URL
	return f
}

func synthesizer(t *testing.T, c Config, make func(Config) (*Synthesizer, error), url string) *Synthesizer {
	t.Helper()
	c.Server.URLs = []string{url}
	s, err := make(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// speak returns what a synthesizer says for a text.
func speak(ctx context.Context, s *Synthesizer, u pipeline.Utterance) (pcm []int16, err error) {
	err = s.Synthesize(ctx, u, func(piece []int16) error {
		if len(piece) == 0 || len(piece) > pipeline.MaxChunk {
			return fmt.Errorf("a chunk of %d samples", len(piece))
		}
		pcm = append(pcm, piece...)
		return nil
	})
	return pcm, err
}

// sine returns some seconds of a tone, as samples and as raw PCM.
func sine(rate int, seconds float64) ([]int16, string) {
	pcm := make([]int16, int(float64(rate)*seconds))
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
	}
	return pcm, string(voice.PCM16ToBytes(nil, pcm))
}

// file returns raw PCM as a WAV file.
func file(rate int, pcm string, size int) string { return string(wav.Header(rate, size)) + pcm }

// soundEvents returns raw PCM as server-sent events, with some bytes in each.
func soundEvents(pcm string, each int) string {
	var all strings.Builder
	for pcm != "" {
		n := min(each, len(pcm))
		fmt.Fprintf(&all, "data: {\"type\":\"speech.audio.delta\",\"audio\":%q}\n\n", base64.StdEncoding.EncodeToString([]byte(pcm[:n])))
		pcm = pcm[n:]
	}
	return all.String() + "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":1}}\n\n"
}

// The sound is the same in each form, resampled to the rate of the pipeline.
func TestSound(t *testing.T) {
	const seconds = 0.5
	for name, test := range map[string]struct {
		kind, sound string
		rate        int
		config      Config
		make        func(Config) (*Synthesizer, error)
	}{
		"raw PCM":              {"audio/pcm", "", 24000, Config{}, NewOpenAI},
		"raw PCM at 16 kHz":    {"application/octet-stream", "", 16000, Config{Rate: 16000}, NewOpenAI},
		"the type has a rate":  {"audio/pcm;rate=16000", "", 16000, Config{}, NewOpenAI},
		"no type":              {"", "", 24000, Config{}, NewOpenAI},
		"WAV":                  {"audio/wav", "wav", 22050, Config{Format: FormatWAV}, NewOpenAI},
		"WAV without a length": {"audio/x-wav", "stream", 44100, Config{Format: FormatWAV}, NewOpenAI},
		"WAV in place of PCM":  {"audio/pcm", "wav", 16000, Config{}, NewOpenAI},
		"events":               {mimeSSE, "events", 24000, Config{Format: FormatSSE}, NewOpenAI},
		"events with a WAV":    {mimeSSE, "wav events", 22050, Config{Format: FormatSSE}, NewOpenAI},
		"Piper 1.8":            {"text/html; charset=utf-8", "wav", 22050, Config{}, NewPiper},
		"Piper":                {"audio/wav", "wav", 22050, Config{}, NewPiper},
		"Piper without a type": {"", "wav", 22050, Config{}, NewPiper},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			pcm, raw := sine(test.rate, seconds)
			body := map[string]string{
				"": raw, "wav": file(test.rate, raw, len(raw)), "stream": file(test.rate, raw, wav.Unknown), "events": soundEvents(raw, 999),
				"wav events": soundEvents(file(test.rate, raw, wav.Unknown), 7),
			}[test.sound]
			got, err := speak(t.Context(), synthesizer(t, test.config, test.make, serve(t, test.kind, body).url), pipeline.Utterance{Text: "Hello."})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			up, err := voice.NewResampler(test.rate, pipeline.OutputRate)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(got).To(gomega.Equal(up.FlushPCM16(up.AppendPCM16(nil, pcm))))
		})
	}
}

func TestSoundThatCannotBeRead(t *testing.T) {
	_, raw := sine(24000, 0.1)
	for name, test := range map[string]struct {
		kind, sound, want string
		config            Config
		make              func(Config) (*Synthesizer, error)
	}{
		"MP3":              {"audio/mpeg", "ID3\x04", `answered with "audio/mpeg"`, Config{}, NewOpenAI},
		"MP3 by its bytes": {"audio/pcm", "ID3\x04abc", "sent MP3; want PCM or WAV", Config{}, NewOpenAI},
		"a text":           {"audio/pcm", `{"error":"no voice"}`, "sent a text in place of sound: no voice", Config{}, NewOpenAI},
		"a strange rate":   {"audio/wav", file(12345, raw, len(raw)), "sends sound at 12345 Hz", Config{}, NewPiper},
		"a rate that lies": {"audio/wav", file(4_000_000_000, raw, len(raw)), "a rate of 4000000000 Hz", Config{}, NewPiper},
		"rate zero":        {"audio/wav", file(0, raw, len(raw)), "a rate of 0 Hz", Config{}, NewPiper},
		"no WAV":           {"audio/wav", "RAFF....", "sent sound that is no WAV file", Config{}, NewPiper},
		"half a header":    {"audio/wav", file(24000, "", 0)[:30], "ends before its sound", Config{}, NewPiper},
		"an empty WAV":     {"audio/wav", file(24000, "", 0), "sent no sound", Config{}, NewPiper},
		"nothing":          {"audio/pcm", "", "sent no sound", Config{}, NewOpenAI},
		"too much":         {"audio/pcm", strings.Repeat("\x00", 2*8000*181), "more than 3m0s of sound", Config{Rate: 8000}, NewOpenAI},
		"no base64":        {mimeSSE, "data: {\"type\":\"speech.audio.delta\",\"audio\":\"%%\"}\n\n", "no base64", Config{Format: FormatSSE}, NewOpenAI},
		"an error event":   {mimeSSE, "data: {\"type\":\"error\",\"error\":{\"message\":\"no voice\"}}\n\n", "reports: no voice", Config{Format: FormatSSE}, NewOpenAI},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f := serve(t, test.kind, test.sound)
			_, err := speak(t.Context(), synthesizer(t, test.config, test.make, f.url), pipeline.Utterance{Text: "Hello."})
			var stage *pipeline.StageError
			g.Expect(errors.As(err, &stage)).To(gomega.BeTrue(), "%v", err)
			g.Expect(err).To(gomega.MatchError(gomega.And(gomega.HavePrefix("synthesizer: "+f.url), gomega.ContainSubstring(test.want))))
		})
	}
}

func TestBadServers(t *testing.T) {
	_, raw := sine(24000, 0.02)
	odd := map[string]string{"an odd byte": "the length of a WAV file says where its sound ends"}
	for name, test := range map[string]struct {
		good   badserver.Answer
		config Config
		make   func(Config) (*Synthesizer, error)
		skip   map[string]string
	}{
		"pcm":   {badserver.Answer{Type: "audio/pcm", Body: raw}, Config{}, NewOpenAI, nil},
		"wav":   {badserver.Answer{Type: "audio/wav", Body: file(24000, raw, len(raw))}, Config{Format: FormatWAV}, NewOpenAI, odd},
		"sse":   {badserver.Answer{Type: mimeSSE, Body: soundEvents(raw, 100)}, Config{Format: FormatSSE}, NewOpenAI, map[string]string{"a megabyte in one token": "a clause may have a megabyte of sound in one event"}},
		"piper": {badserver.Answer{Type: "audio/wav", Body: file(24000, raw, len(raw))}, Config{}, NewPiper, odd},
	} {
		t.Run(name, func(t *testing.T) {
			badserver.Check(t, badserver.Adapter{
				Stage: pipeline.StageSynthesizer, Good: test.good, Skip: test.skip,
				Call: func(ctx context.Context, server remote.Config) error {
					test.config.Server = server
					s, err := test.make(test.config)
					if err != nil {
						return err
					}
					defer s.Close()
					_, err = speak(ctx, s, pipeline.Utterance{Text: "Hello."})
					return err
				},
			})
		})
	}
}

// The first sound goes out before the last one arrives, and a barge-in closes the request.
func TestSoundIsStreamed(t *testing.T) {
	g := gomega.NewWithT(t)
	closed := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "audio/pcm")
		_, _ = io.WriteString(w, "abcdefg") // ends inside a sample
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := synthesizer(t, Config{}, NewOpenAI, s.URL).Synthesize(ctx, pipeline.Utterance{Text: "Hello."}, func(pcm []int16) error {
		g.Expect(pcm).To(gomega.HaveLen(3))
		cancel()
		return nil
	})
	g.Expect(err).To(gomega.Equal(context.Canceled))
	g.Eventually(closed, remote.DefaultIdle/2).Should(gomega.BeClosed(), "no time limit closes it; the benchmark measures how fast it is")
}

func TestRequests(t *testing.T) {
	_, raw := sine(24000, 0.01)
	for name, test := range map[string]struct {
		config    Config
		make      func(Config) (*Synthesizer, error)
		utterance pipeline.Utterance
		want      string
	}{
		"OpenAI": {
			Config{Model: "tts-1", Voice: "af_heart", Options: map[string]any{"instructions": "be calm"}},
			NewOpenAI,
			pipeline.Utterance{Text: " Hello,\nyou. ", Speed: 1.5},
			`/audio/speech {"input":"Hello, you.","instructions":"be calm","model":"tts-1","response_format":"pcm","speed":1.5,"voice":"af_heart"}`,
		},
		"WAV":    {Config{Format: FormatWAV}, NewOpenAI, pipeline.Utterance{Text: "Hi", Voice: "coral"}, `/audio/speech {"input":"Hi","response_format":"wav","voice":"coral"}`},
		"events": {Config{Format: FormatSSE}, NewOpenAI, pipeline.Utterance{Text: "Hi"}, `/audio/speech {"input":"Hi","response_format":"pcm","stream_format":"sse","voice":"alloy"}`},
		"Piper":  {Config{}, NewPiper, pipeline.Utterance{Text: "Hi", Voice: "alloy", Speed: 9}, `/synthesize {"length_scale":0.25,"text":"Hi"}`},
		"Piper with a voice": {
			Config{Voices: map[string]string{"alloy": "en_US-joe-medium"}, Options: map[string]any{"speaker_id": 3}},
			NewPiper,
			pipeline.Utterance{Text: "Hi", Voice: "alloy"},
			`/synthesize {"speaker_id":3,"text":"Hi","voice":"en_US-joe-medium"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, "audio/wav", file(24000, raw, len(raw)))
			_, err := speak(t.Context(), synthesizer(t, test.config, test.make, f.url), test.utterance)
			g := gomega.NewWithT(t)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(f.asked).To(gomega.Equal([]string{test.want}))
		})
	}
}

// Piper 1.3 has speech at another path than Piper 1.8.
func TestThePathOfAnOldPiper(t *testing.T) {
	g := gomega.NewWithT(t)
	_, raw := sine(24000, 0.01)
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = append(asked, r.URL.Path); r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, file(24000, raw, len(raw)))
	}))
	defer s.Close()
	v := synthesizer(t, Config{}, NewPiper, s.URL)
	for range 2 {
		_, err := speak(t.Context(), v, pipeline.Utterance{Text: "Hi"})
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(asked).To(gomega.Equal([]string{"/synthesize", "/", "/"}))
}

func TestNothingToSay(t *testing.T) {
	g := gomega.NewWithT(t)
	f := serve(t, "audio/pcm", "")
	s := synthesizer(t, Config{}, NewOpenAI, f.url)
	g.Expect(speak(t.Context(), s, pipeline.Utterance{Text: " … !"})).To(gomega.BeEmpty())
	g.Expect(f.asked).To(gomega.BeEmpty())
	_, err := speak(t.Context(), s, pipeline.Utterance{Text: strings.Repeat("a", maxText+1)})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrTooLong))
}

func TestVoices(t *testing.T) {
	for name, test := range map[string]struct {
		list   string
		config Config
		make   func(Config) (*Synthesizer, error)
		want   map[string]string // by the voice that a session asks for; "!" is an error
	}{
		"Kokoro":         {`{"voices":["af_heart","am_adam"]}`, Config{}, NewOpenAI, map[string]string{"": "af_heart", "am_adam": "am_adam", "alloy": "af_heart", "nobody": "!"}},
		"objects":        {`{"data":[{"voice_id":"x1","name":"Ann"},{"id":"Bob"}]}`, Config{Voice: "Bob"}, NewOpenAI, map[string]string{"": "Bob", "x1": "x1", "marin": "Bob", "Ann": "!"}},
		"a bare list":    {`["a","b"]`, Config{Voices: map[string]string{"alloy": "b", "host": "a"}}, NewOpenAI, map[string]string{"alloy": "b", "host": "a", "ash": "a"}},
		"no list":        {"", Config{}, NewOpenAI, map[string]string{"": "", "alloy": "alloy", "whoever": "whoever"}},
		"Piper":          {`{"en_US-joe-medium":{"speaker_id_map":{}}}`, Config{}, NewPiper, map[string]string{"": "", "alloy": "", "en_US-joe-medium": "en_US-joe-medium", "x": "!"}},
		"no JSON at all": {"<html>", Config{Voice: "v"}, NewOpenAI, map[string]string{"": "v", "alloy": "v", "w": "w"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f := serve(t, "", "")
			f.list = test.list
			s := synthesizer(t, test.config, test.make, f.url)
			g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateLoading))
			g.Expect(s.Warm(t.Context())).To(gomega.Succeed())
			g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateReady))
			for asked, want := range test.want {
				got, err := s.pick(asked)
				if want == "!" {
					g.Expect(err).To(gomega.MatchError(pipeline.ErrUnknownVoice), asked)
					g.Expect(s.CheckVoice(asked).Error()).To(gomega.ContainSubstring("there are "), asked)
					continue
				}
				g.Expect(err).NotTo(gomega.HaveOccurred(), asked)
				g.Expect(got).To(gomega.Equal(want), asked)
			}
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	f := httptest.NewServer(http.NotFoundHandler())
	f.Close()
	s := synthesizer(t, Config{Server: remote.Config{Rounds: 1}}, NewOpenAI, f.URL)
	g.Expect(s.Warm(t.Context())).To(gomega.MatchError(gomega.ContainSubstring("cannot be reached")))
	g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateFailed))
}

func TestSettings(t *testing.T) {
	server := remote.Config{URLs: []string{"http://127.0.0.1:1"}}
	for want, c := range map[string]Config{
		"no address":      {},
		"rate: ":          {Server: server, Rate: 12345},
		"format: \"mp3\"": {Server: server, Format: "mp3"},
		"options: \"voice\" is set by the server": {Server: server, Options: map[string]any{"voice": "x"}},
	} {
		_, err := NewOpenAI(c)
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)))
	}
}

// FuzzVoices: any answer gives names, and none of them is empty.
func FuzzVoices(f *testing.F) {
	f.Add([]byte(`{"voices":[{"id":"a"},"b",3,null]}`))
	f.Add([]byte(`{"data":{"voices":{"a":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range voiceNames(text) {
			if name == "" || !json.Valid(text) {
				t.Fatalf("the name %q", name)
			}
		}
	})
}
