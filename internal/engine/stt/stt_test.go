package stt

// The Transcriber against servers that answer as the real ones do, and against servers that fail.

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// standIn is a server that transcribes a recording as its length: "2.0 seconds".
type standIn struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *request)

	mu       sync.Mutex
	requests []*request
}

// request is what a stand-in got.
type request struct {
	*http.Request
	fields  map[string][]string
	seconds float64
	bad     string // what a real server would refuse
}

func (r *request) field(name string) string { return strings.Join(r.fields[name], ",") }

// serve starts a stand-in that ends with the test. answer nil answers in JSON.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *request)) *standIn {
	t.Helper()
	s := &standIn{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := read(r)
		s.mu.Lock()
		s.requests = append(s.requests, q)
		s.mu.Unlock()
		switch {
		case q.bad != "":
			http.Error(w, q.bad, http.StatusBadRequest)
		case s.answer != nil:
			s.answer(w, q)
		default:
			reply(w, map[string]any{"text": fmt.Sprintf(" %.1f seconds\n", q.seconds)})
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Server.Close() })
	return s
}

// read reads a form as a server does.
func read(r *http.Request) *request {
	q := &request{Request: r}
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		q.bad = err.Error()
		return q
	}
	q.fields = r.MultipartForm.Value
	file, _, err := r.FormFile("file")
	if err != nil {
		q.bad = err.Error()
		return q
	}
	defer file.Close()
	wav, err := io.ReadAll(file)
	if err != nil || len(wav) < 44 || string(wav[:4]) != "RIFF" || binary.LittleEndian.Uint32(wav[24:]) != 16000 ||
		int(binary.LittleEndian.Uint32(wav[40:])) != len(wav)-44 || int(binary.LittleEndian.Uint32(wav[4:])) != len(wav)-8 {
		q.bad = "no WAV file at 16 kHz"
		return q
	}
	q.seconds = float64(len(wav)-44) / 32000
	return q
}

// reply answers in JSON.
func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *standIn) all() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*request(nil), s.requests...)
}

// transcriber returns a Transcriber of the server at url. Its deadlines are short.
func transcriber(t *testing.T, url string, o Options) *Transcriber {
	t.Helper()
	o.Server.URLs = []string{url}
	if o.Server.FirstByte == 0 {
		o.Server.FirstByte = 5 * time.Second
	}
	tr, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

func TestARecordingIsTranscribed(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, nil)
	tr := transcriber(t, s.URL+"/v1", Options{Model: "whisper-large", Language: "de", Server: remote.Config{Key: "sk-1"}})
	all := pipetest.Hear(t, tr, pipeline.TranscribeConfig{Model: "whisper-1", Language: "en-US", Prompt: "Antiphon"}, pipetest.Silence(2))
	g.Expect(all).To(gomega.HaveLen(1))
	g.Expect(all[0].Text).To(gomega.Equal("2.0 seconds"))
	g.Expect(all[0].Final).To(gomega.BeTrue())
	q := s.all()[0]
	g.Expect(q.URL.Path).To(gomega.Equal("/v1/audio/transcriptions"))
	g.Expect(q.Header.Get("Authorization")).To(gomega.Equal("Bearer sk-1"))
	g.Expect(q.field("model")).To(gomega.Equal("whisper-large"), "the configured model replaces the session's")
	g.Expect(q.field("language")).To(gomega.Equal("en"), "a session's language comes before the configured one")
	g.Expect(q.field("prompt")).To(gomega.Equal("Antiphon"))
	g.Expect(q.field("response_format")).To(gomega.Equal("json"))
	g.Expect(q.fields).NotTo(gomega.HaveKey("stream"))
}

func TestNothingIsSentForNoAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, nil)
	g.Expect(pipetest.Hear(t, transcriber(t, s.URL, Options{}), pipeline.TranscribeConfig{}, nil)).To(gomega.Equal([]pipeline.TranscriptResult{{Final: true}}))
	g.Expect(s.all()).To(gomega.BeEmpty())
}

func TestSettingsOfASession(t *testing.T) {
	g := gomega.NewWithT(t)
	c := pipeline.TranscribeConfig{Model: "whisper-1", Language: "en", Prompt: "x"}
	g.Expect(transcriber(t, "http://a", Options{}).NegotiateConfig(c)).To(gomega.Equal(c))
	timed, json := transcriber(t, "http://a", Options{Format: FormatVerbose}), transcriber(t, "http://a", Options{})
	g.Expect(timed.NegotiateConfig(pipeline.TranscribeConfig{Words: true})).To(gomega.Equal(pipeline.TranscribeConfig{Words: true}))
	g.Expect(json.NegotiateConfig(pipeline.TranscribeConfig{Words: true})).To(gomega.Equal(pipeline.TranscribeConfig{}), "a server answers json without times")
	want := c
	want.Model = ""
	g.Expect(transcriber(t, "http://a", Options{Model: "m"}).NegotiateConfig(c)).To(gomega.Equal(want))
}

// TestVerboseAnswers reads what OpenAI and speaches, and what whisper.cpp answer in the verbose format.
func TestVerboseAnswers(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for name, test := range map[string]struct {
		form   Form
		answer map[string]any
		text   string
		words  []pipeline.Word
	}{
		"words beside the segments": {
			OpenAI,
			map[string]any{
				"text": "Good morning.", "segments": []segment{{Text: " Good morning.", End: 1, NoSpeech: p(0.01)}},
				"words": []word{{Word: "Good", Start: 0.1, End: 0.4}, {Word: "morning.", Start: 0.4, End: 0.9}},
			},
			"Good morning.",
			[]pipeline.Word{{Text: "Good", Start: 100 * time.Millisecond, End: 400 * time.Millisecond}, {Text: "morning.", Start: 400 * time.Millisecond, End: 900 * time.Millisecond}},
		},
		"pieces of words in the segments": {
			WhisperCPP,
			map[string]any{"text": " That's it.\n", "segments": []segment{{Text: " That's it.", End: 1, Words: []word{
				{Word: " That", Start: 0.1, End: 0.2, Probability: 0.9}, {Word: "'s", Start: 0.2, End: 0.3, Probability: 0.5}, {Word: " it.", Start: 0.3, End: 0.5, Probability: 1},
			}}}},
			"That's it.",
			[]pipeline.Word{{Text: "That's", Start: 100 * time.Millisecond, End: 300 * time.Millisecond, Prob: 0.5}, {Text: "it.", Start: 300 * time.Millisecond, End: 500 * time.Millisecond, Prob: 1}},
		},
		"a segment that the server doubts": {
			OpenAI,
			map[string]any{
				"text": "Hello. Thank you.", "segments": []segment{{Text: " Hello.", End: 1, NoSpeech: p(0.1)}, {Text: " Thank you.", Start: 1, End: 3, NoSpeech: p(0.9)}},
				"words": []word{{Word: "Hello.", End: 0.5}, {Word: "Thank", Start: 1, End: 2}, {Word: "you.", Start: 2, End: 3}},
			},
			"Hello.",
			[]pipeline.Word{{Text: "Hello.", End: 500 * time.Millisecond}},
		},
		"nothing but doubt": {
			WhisperCPP, map[string]any{"text": "Thank you.", "segments": []segment{{Text: " Thank you.", End: 2, NoSpeech: p(0.7)}}}, "", nil,
		},
		"a server that knows no doubt": {
			OpenAI, map[string]any{"text": "Thank you.", "segments": []map[string]any{{"text": " Thank you.", "no_speech_prob": nil}}}, "Thank you.", nil,
		},
		"times that are a lie": {
			OpenAI, map[string]any{"text": "a", "words": []word{{Word: "a", Start: -3, End: 1e300, Probability: 7}}}, "a", []pipeline.Word{{Text: "a", Prob: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := serve(t, func(w http.ResponseWriter, _ *request) { reply(w, test.answer) })
			r := pipetest.Last(pipetest.Hear(t, transcriber(t, s.URL, Options{Form: test.form, Format: FormatVerbose}), pipeline.TranscribeConfig{}, pipetest.Silence(3)))
			g.Expect(r.Err).NotTo(gomega.HaveOccurred())
			g.Expect(r.Text).To(gomega.Equal(test.text))
			g.Expect(r.Words).To(gomega.Equal(test.words))
			q := s.all()[0]
			g.Expect(q.field("response_format")).To(gomega.Equal("verbose_json"))
			if test.form == WhisperCPP {
				g.Expect(q.URL.Path).To(gomega.Equal("/inference"))
			} else {
				g.Expect(q.field("timestamp_granularities[]")).To(gomega.Equal("segment,word"))
			}
		})
	}
}

func TestMarkersAreNoSpeech(t *testing.T) {
	for text, want := range map[string]string{
		" [BLANK_AUDIO]\n":           "",
		"[Music] Hello [laughs] you": "Hello you",
		"(wind blowing)":             "",
		"*coughs*":                   "",
		"♪ ♪":                        "",
		"♪ la la ♪":                  "♪ la la ♪",
		"Call me (at home).":         "Call me (at home).",
		"(a) and (b)":                "(a) and (b)",
		"2 * 3 * 4":                  "2 * 3 * 4",
		"an [open one":               "an [open one",
		"Thank you.":                 "Thank you.",
	} {
		gomega.NewWithT(t).Expect(Spoken(text)).To(gomega.Equal(want), text)
	}
}

// events answers with a stream of events.
func events(data ...string) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, r *request) {
		if r.field("stream") != "true" {
			reply(w, map[string]any{"text": "no stream was asked for"})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, d := range data {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", d)
			w.(http.Flusher).Flush()
		}
	}
}

func TestStreams(t *testing.T) {
	for name, test := range map[string]struct {
		events []string
		text   string
		err    string
	}{
		"OpenAI":          {[]string{`{"type":"transcript.text.delta","delta":"Good"}`, `{"type":"transcript.text.delta","delta":" day"}`, `{"type":"transcript.text.done","text":"Good day."}`}, "Good day.", ""},
		"LocalAI":         {[]string{`{"type":"transcript.text.delta","delta":"Good day"}`, `{"type":"transcript.text.done","text":"Good day","segments":[]}`, `[DONE]`}, "Good day", ""},
		"speaches":        {[]string{`{"type":"transcript.text.delta","delta":" Good day","logprobs":null}`, `{"type":"transcript.text.done","text":""}`}, "Good day", ""},
		"vLLM":            {[]string{`{"object":"transcription.chunk","choices":[{"delta":{"content":"Good"},"finish_reason":null}]}`, `{"choices":[{"delta":{"content":" day"},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{}}`, `[DONE]`}, "Good day", ""},
		"silence":         {[]string{`{"type":"transcript.text.delta","delta":"[BLANK_AUDIO]"}`, `{"type":"transcript.text.done","text":"[BLANK_AUDIO]"}`}, "", ""},
		"cut":             {[]string{`{"type":"transcript.text.delta","delta":"Good"}`}, "", "ended its stream before the end of the text"},
		"an error":        {[]string{`{"type":"transcript.text.delta","delta":"Good"}`, `{"type":"error","error":{"message":"out of memory"}}`}, "", "ended its stream with an error: out of memory"},
		"no JSON":         {[]string{`Good day`}, "", "sent an event that cannot be read: Good day"},
		"too much text":   {[]string{`{"type":"transcript.text.delta","delta":"` + strings.Repeat("a", maxText+1) + `"}`}, "", "sent more than 65536 bytes of text"},
		"a huge event":    {[]string{strings.Repeat("a", maxEvent+1)}, "", "sent an event of more than 262144 bytes"},
		"a huge end":      {[]string{`{"type":"transcript.text.done","text":"` + strings.Repeat("a", maxText+1) + `"}`}, "", "sent more than 65536 bytes of text"},
		"nothing at all":  {nil, "", "ended its stream before the end of the text"},
		"an end too soon": {[]string{`[DONE]`}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := serve(t, events(test.events...))
			tr := transcriber(t, s.URL, Options{Stream: true, PartialEvery: time.Hour})
			all := pipetest.Hear(t, tr, pipeline.TranscribeConfig{Live: true}, pipetest.Silence(1))
			end := pipetest.Last(all)
			if test.err != "" {
				g.Expect(end.Err).To(gomega.MatchError(gomega.ContainSubstring("transcriber: " + s.URL + "/audio/transcriptions " + test.err)))
				g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateFailed))
				return
			}
			g.Expect(end.Err).NotTo(gomega.HaveOccurred())
			g.Expect(end.Text).To(gomega.Equal(test.text))
			g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateReady))
			for _, r := range all[:len(all)-1] {
				g.Expect(test.text).To(gomega.HavePrefix(r.Partial))
			}
		})
	}
}

// TestABatchResultIsNoStream: a server that cannot stream must not look as if it could.
func TestABatchResultIsNoStream(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, nil)
	r := pipetest.Last(pipetest.Hear(t, transcriber(t, s.URL, Options{Stream: true, PartialEvery: time.Hour}), pipeline.TranscribeConfig{Live: true}, pipetest.Silence(1)))
	g.Expect(r.Err).To(gomega.MatchError(gomega.And(
		gomega.ContainSubstring(`answered with "application/json" instead of "text/event-stream"`), gomega.ContainSubstring("leave out stream"))))
	g.Expect(pipetest.Last(pipetest.Hear(t, transcriber(t, s.URL, Options{Stream: true}), pipeline.TranscribeConfig{}, pipetest.Silence(1))).Text).To(gomega.Equal("1.0 seconds"))

	_, err := transcriber(t, s.URL, Options{PartialEvery: -1}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
}

func TestFailures(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, *request) {
		return func(w http.ResponseWriter, _ *request) { http.Error(w, body, code) }
	}
	typed := func(kind, body string) func(http.ResponseWriter, *request) {
		return func(w http.ResponseWriter, _ *request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter, *request)
		want   string
	}{
		"wrong key":     {status(401, `{"error":{"message":"bad key sk-1"}}`), "answered 401 Unauthorized: bad key ***"},
		"unknown model": {status(404, `{"detail":"model not found"}`), "answered 404 Not Found: model not found"},
		"a page":        {typed("text/html", "<html>"), `answered with "text/html" instead of "application/json": <html>`},
		"no JSON":       {typed("application/json", "oops"), "answered with JSON that cannot be read: oops"},
		"an old error":  {typed("application/json", `{"error":"failed to read WAV file"}`), "answered with an error: failed to read WAV file"},
		"another API":   {typed("application/json", `{"message":"what?"}`), "answered without a text: what?"},
		"a book":        {typed("application/json", `{"text":"`+strings.Repeat("a", maxText+1)+`"}`), "sent more than 65536 bytes of text for one utterance"},
		"a library":     {typed("application/json", strings.Repeat(" ", maxAnswer+1)), "sent an answer of more than 4194304 bytes"},
		"a cut":         {func(w http.ResponseWriter, _ *request) { w.Header().Set("Content-Length", "99") }, "ended in the middle of its answer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := serve(t, test.answer)
			tr := transcriber(t, s.URL+"/v1?secret=7", Options{Server: remote.Config{Key: "sk-1"}})
			r := pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{}, pipetest.Silence(1)))
			var stage *pipeline.StageError
			g.Expect(errors.As(r.Err, &stage)).To(gomega.BeTrue(), "%v", r.Err)
			g.Expect(r.Err.Error()).To(gomega.HavePrefix("transcriber: " + s.URL + "/v1/audio/transcriptions " + test.want))
			g.Expect(r.Err.Error()).NotTo(gomega.Or(gomega.ContainSubstring("sk-1"), gomega.ContainSubstring("secret")))
			g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateFailed))
			s.answer = nil
			g.Expect(pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{}, pipetest.Silence(1))).Text).To(gomega.Equal("1.0 seconds"), "the next utterance works")
			g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateReady))
		})
	}
}

func TestAnUtteranceHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, nil)
	u, err := transcriber(t, s.URL, Options{}).engine.Open(t.Context(), backendConfig(false))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer u.Close()
	minute := pipetest.Silence(60)
	for range 6 {
		_, err = u.Feed(t.Context(), minute)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	_, err = u.Feed(t.Context(), minute[:1])
	g.Expect(err).To(gomega.MatchError(pipeline.ErrTooLong))
}

func TestWrongSettings(t *testing.T) {
	for want, o := range map[string]Options{
		`format: "text" is unknown`:       {Format: "text"},
		"stream: servers of the kind":     {Form: WhisperCPP, Stream: true},
		"stream: a stream has no verbose": {Stream: true, Format: FormatVerbose},
		"no_speech: 2 is no probability":  {NoSpeech: 2},
		"url: no address":                 {},
	} {
		_, err := New(o)
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)))
	}
}

func TestWarm(t *testing.T) {
	g := gomega.NewWithT(t)
	s := serve(t, nil)
	tr := transcriber(t, s.URL, Options{Model: "base"})
	g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateLoading))
	g.Expect(tr.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(tr.Component()).To(gomega.Equal(pipeline.Component{Stage: "transcriber", Name: "openai", State: "ready", Detail: "base at " + s.URL + "/"}))
	g.Expect(s.all()[0].seconds).To(gomega.BeNumerically("==", 1))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(tr.Warm(ctx)).To(gomega.MatchError(context.Canceled))
	g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateReady), "the server is not to blame")
}
