package speechapi

// The endpoints over the scripted pipeline: whole answers, streams, wrong requests, and stages that fail and hang.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// desk is a server with the endpoints, and its client.
type desk struct {
	g   *gomega.WithT
	url string
}

// open serves the endpoints over a pipeline. Stages that hang are given up after 200 ms.
func open(t *testing.T, p *pipeline.Pipeline) desk {
	t.Helper()
	limits := watchdog.Defaults()
	limits.Open, limits.FirstAudio, limits.Close = 200*time.Millisecond, 200*time.Millisecond, 200*time.Millisecond
	h := New(Config{Pipeline: p, Guard: watchdog.New(env.System(), limits)})
	mux := http.NewServeMux()
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request, string) *answer.Problem{
		"POST /v1/audio/transcriptions": h.Transcription, "POST /v1/audio/speech": h.Speech, "GET /v1/models": h.Models,
		"GET /v1/antiphon/voices": h.Voices, "POST /v1/antiphon/voices": h.Enrol, "POST /v1/antiphon/voices/{name}/remove": h.Remove,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if p := serve(w, r, "ann"); p != nil {
				w.WriteHeader(p.Status)
				_, _ = io.WriteString(w, p.Code+": "+p.Message)
			}
		})
	}
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return desk{gomega.NewWithT(t), s.URL + "/v1/"}
}

// do sends a request and returns the answer's status, media type and body.
func (d desk) do(method, path, kind string, body []byte) (status int, media, text string) {
	r, err := http.NewRequest(method, d.url+path, bytes.NewReader(body))
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(r)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer answer.Body.Close()
	content, _ := io.ReadAll(answer.Body) // a cut answer is an answer
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(content)
}

func (d desk) speak(request string) (status int, media, text string) {
	return d.do(http.MethodPost, "audio/speech", "application/json", []byte(request))
}

// transcribe sends a file, with fields in the form "name=value".
func (d desk) transcribe(file []byte, fields ...string) (status int, media, text string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("file", "a.wav") // a buffer never fails
	_, _ = part.Write(file)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		_ = form.WriteField(name, value)
	}
	_ = form.Close()
	return d.do(http.MethodPost, "audio/transcriptions", form.FormDataContentType(), body.Bytes())
}

// said returns a WAV file in which the scripted pipeline hears a text.
func said(text string) []byte {
	pcm := scripted.Tones(text)
	return voice.PCM16ToBytes(wav.Header(pipeline.OutputRate, 2*len(pcm)), pcm)
}

// sse returns the events of a stream.
func (d desk) sse(text string) (events []map[string]any) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var event map[string]any
		d.g.Expect(json.Unmarshal([]byte(strings.TrimPrefix(block, "data: ")), &event)).To(gomega.Succeed(), block)
		events = append(events, event)
	}
	return events
}

func plain() *pipeline.Pipeline { return scripted.New(scripted.Options{}) }

func script(t *testing.T, yaml string) *pipeline.Pipeline {
	t.Helper()
	s, err := scripted.Parse(t.Name(), []byte(yaml))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return scripted.New(scripted.Options{Script: s})
}

func TestModels(t *testing.T) {
	d := open(t, plain())
	status, _, text := d.do(http.MethodGet, "models", "", nil)
	d.g.Expect(status).To(gomega.Equal(200))
	d.g.Expect(strings.Count(text, `"id":"scripted","object":"model"`)).To(gomega.Equal(1), "the stages of the scripted pipeline have its name")
}

func TestTranscription(t *testing.T) {
	d := open(t, plain())
	status, media, text := d.transcribe(said("hello there"), "model=whisper-1", "temperature=0")
	d.g.Expect(status).To(gomega.Equal(200), text)
	d.g.Expect(media).To(gomega.Equal("application/json"))
	d.g.Expect(text).To(gomega.And(gomega.ContainSubstring(`"text":"hello there"`), gomega.ContainSubstring(`"type":"duration"`)))
	_, media, text = d.transcribe(said("hello there"), "response_format=text")
	d.g.Expect([]string{media, text}).To(gomega.Equal([]string{"text/plain; charset=utf-8", "hello there\n"}))
	_, _, text = d.transcribe(said("hello there"), "response_format=verbose_json")
	d.g.Expect(text).To(gomega.And(gomega.ContainSubstring(`"duration":`), gomega.ContainSubstring(`"segments":[`)))
	_, _, text = d.transcribe(wav.Header(16000, 0))
	d.g.Expect(text).To(gomega.ContainSubstring(`"text":""`))
}

func TestTranscriptionInEvents(t *testing.T) {
	d := open(t, plain())
	status, media, text := d.transcribe(said("one two three four five six seven"), "stream=true")
	d.g.Expect(status).To(gomega.Equal(200), text)
	d.g.Expect(media).To(gomega.Equal("text/event-stream"))
	events := d.sse(text)
	var whole string
	for _, e := range events[:len(events)-1] {
		d.g.Expect(e["type"]).To(gomega.Equal("transcript.text.delta"))
		whole += e["delta"].(string)
	}
	d.g.Expect(whole).To(gomega.Equal("one two three four five six seven"))
	d.g.Expect(events[len(events)-1]).To(gomega.HaveKeyWithValue("text", whole))

	d = open(t, script(t, "transcriber: {offline: true}"))
	_, _, text = d.transcribe(said("hello"), "stream=true")
	d.g.Expect(d.sse(text)).To(gomega.HaveLen(1), "no batch result in the shape of a stream")
	d.g.Expect(text).To(gomega.And(gomega.ContainSubstring(`"type":"error"`), gomega.ContainSubstring("no_live_transcription")))
}

func TestSpeech(t *testing.T) {
	d := open(t, plain())
	status, media, text := d.speak(`{"model":"tts-1","input":"Hello there, how are you?","voice":"alloy"}`)
	d.g.Expect(status).To(gomega.Equal(200), text)
	d.g.Expect(media).To(gomega.Equal("audio/wav"))
	pcm, rate, err := wav.ReadAll(strings.NewReader(text), 1<<20)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.g.Expect(rate).To(gomega.Equal(24000))
	d.g.Expect(scripted.Heard(pcm)).To(gomega.Equal("Hello there, how are you?"))

	_, media, text = d.speak(`{"input":"Hello.","voice":{"id":"alloy"},"speed":2,"response_format":"pcm"}`)
	d.g.Expect(media).To(gomega.Equal("audio/pcm"))
	d.g.Expect(text).To(gomega.HaveLen(6 * 60 / 2 * 24 * 2))

	_, media, text = d.speak(`{"input":"Hello.","stream_format":"sse"}`)
	d.g.Expect(media).To(gomega.Equal("text/event-stream"))
	pcm = nil
	events := d.sse(text)
	for _, e := range events[:len(events)-1] {
		b, err := base64.StdEncoding.DecodeString(e["audio"].(string))
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		pcm = voice.BytesToPCM16(pcm, b)
	}
	d.g.Expect(scripted.Heard(pcm)).To(gomega.Equal("Hello."))
	d.g.Expect(events[len(events)-1]).To(gomega.HaveKeyWithValue("type", "speech.audio.done"))
}

func TestWrongRequests(t *testing.T) {
	d := open(t, plain())
	for request, want := range map[string]string{
		`{`:            "invalid_body: the body: want a JSON object",
		`{"input":1}`:  "invalid_body: input: want a string, got a number",
		`{"input":""}`: "input: a text of 0 characters",
		`{"input":"` + strings.Repeat("x", maxInput+1) + `"}`: "input: a text of 4097 characters",
		`{"input":"` + strings.Repeat("x", maxBody) + `"}`:    "body_too_large",
		`{"input":"a","voice":7}`:                             "voice: want",
		`{"input":"a","speed":0}`:                             "speed: 0; from",
		`{"input":"a","response_format":"mp3"}`:               "this server makes wav and pcm",
		`{"input":"a","stream_format":"ws"}`:                  "want audio or sse",
	} {
		status, _, text := d.speak(request)
		d.g.Expect(status).To(gomega.And(gomega.BeNumerically(">=", 400), gomega.BeNumerically("<", 500)))
		d.g.Expect(text).To(gomega.ContainSubstring(want))
	}
	for want, ask := range map[string]func() (int, string, string){
		"reads WAV files":  func() (int, string, string) { return d.transcribe([]byte("ID3 this is an mp3")) },
		"a rate of 100 Hz": func() (int, string, string) { return d.transcribe(wav.Header(100, 0)) },
		"longer than 5m0s": func() (int, string, string) {
			return d.transcribe(append(wav.Header(16000, 10<<20), make([]byte, 10<<20)...))
		},
		"body_too_large": func() (int, string, string) {
			return d.transcribe(append(wav.Header(48000, 27<<20), make([]byte, 27<<20)...))
		},
		"want json, text, verbose_json, srt, vtt": func() (int, string, string) { return d.transcribe(said("a"), "response_format=diarized_json") },
		"stream: \"maybe\"":                       func() (int, string, string) { return d.transcribe(said("a"), "stream=maybe") },
		"prompt: longer than 4 kB":                func() (int, string, string) { return d.transcribe(said("a"), "prompt="+strings.Repeat("x", 5000)) },
		"want a form with a file": func() (int, string, string) {
			return d.do(http.MethodPost, "audio/transcriptions", "application/json", []byte("{}"))
		},
		"file: the form has no file": func() (int, string, string) {
			return d.do(http.MethodPost, "audio/transcriptions", "multipart/form-data; boundary=x", []byte("--x--\r\n"))
		},
		"invalid_body: the request's body cann": func() (int, string, string) {
			return d.do(http.MethodPost, "audio/transcriptions", "multipart/form-data; boundary=x", []byte("--x\r\nContent-"))
		},
	} {
		status, _, text := ask()
		d.g.Expect(status).To(gomega.And(gomega.BeNumerically(">=", 400), gomega.BeNumerically("<", 500)), text)
		d.g.Expect(text).To(gomega.ContainSubstring(want))
	}
}

func TestStagesThatFail(t *testing.T) {
	d := open(t, script(t, `{transcriber: {rules: [{when: {contains: static}, fail: the line is dead}]}, synthesizer: {rules: [
		{when: {contains: late}, after: 200ms, fail: no voice left}, {when: {contains: boom}, fail: no voice at all}]}}`))
	status, _, text := d.transcribe(said("static"))
	d.g.Expect(status).To(gomega.Equal(502))
	d.g.Expect(text).To(gomega.ContainSubstring("the line is dead"))
	status, _, text = d.speak(`{"input":"boom"}`)
	d.g.Expect(status).To(gomega.Equal(502))
	d.g.Expect(text).To(gomega.ContainSubstring("no voice at all"))
	_, _, text = d.speak(`{"input":"late it is","stream_format":"sse"}`)
	events := d.sse(text)
	d.g.Expect(events[len(events)-1]).To(gomega.HaveKeyWithValue("type", "error"))

	r, err := http.Post(d.url+"audio/speech", "application/json", strings.NewReader(`{"input":"late it is"}`))
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer r.Body.Close()
	_, err = io.ReadAll(r.Body)
	d.g.Expect(err).To(gomega.HaveOccurred(), "the connection is cut, so that the sound does not look whole")

	d = open(t, script(t, `{transcriber: {missing: apt install ears}, synthesizer: {missing: apt install voice}}`))
	status, _, text = d.transcribe(said("static"))
	d.g.Expect(status).To(gomega.Equal(503))
	d.g.Expect(text).To(gomega.ContainSubstring("apt install ears"))
}

// hung is a stage that hangs in every call until the test ends, whatever its context says.
type hung struct{ over chan struct{} }

func (h hung) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	<-h.over
	return nil, context.Canceled
}

func (h hung) Synthesize(context.Context, pipeline.Utterance, func([]int16) error) error {
	<-h.over
	return context.Canceled
}

func TestStagesThatHang(t *testing.T) {
	p, h := plain(), hung{make(chan struct{})}
	defer close(h.over)
	p.Transcriber, p.Synthesizer = h, h
	d := open(t, p)
	status, _, text := d.transcribe(said("hello"))
	d.g.Expect(status).To(gomega.Equal(502))
	d.g.Expect(text).To(gomega.ContainSubstring("no answer in time: open"))
	status, _, text = d.speak(`{"input":"hello"}`)
	d.g.Expect(status).To(gomega.Equal(502))
	d.g.Expect(text).To(gomega.ContainSubstring("no answer in time: the first audio"))
}

func TestAPrincipalHasAShare(t *testing.T) {
	d := open(t, script(t, "synthesizer: {rules: [{when: {contains: slow}, after: 100ms, stall: true}]}"))
	ctx, cancel := context.WithCancel(t.Context())
	var begun, over sync.WaitGroup
	for range maxParallel / 2 {
		begun.Add(1)
		over.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"audio/speech", strings.NewReader(`{"input":"slow"}`))
			if err != nil {
				t.Error(err)
			}
			answer, err := http.DefaultClient.Do(r)
			begun.Done()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.ReadAll(answer.Body) // until it is cancelled
			_ = answer.Body.Close()
		})
	}
	begun.Wait()
	status, _, text := d.speak(`{"input":"hello"}`)
	d.g.Expect(status).To(gomega.Equal(429), text)
	cancel()
	over.Wait()
	d.g.Eventually(func() int { status, _, _ := d.speak(`{"input":"hello"}`); return status }).Should(gomega.Equal(200))
}

func TestDeltas(t *testing.T) {
	g := gomega.NewWithT(t)
	d := deltas{follows: true}
	g.Expect(d.partial("hel")).To(gomega.BeEmpty())
	g.Expect(d.partial("hello wor")).To(gomega.BeEmpty())
	g.Expect(d.partial("hello world")).To(gomega.Equal(" hello"))
	g.Expect(d.partial("hello world is")).To(gomega.Equal(" world"))
	g.Expect(d.partial("hollow")).To(gomega.BeEmpty(), "what was sent stays")
	g.Expect(d.final("hello world it is")).To(gomega.Equal(" it is"))
	g.Expect(d.text).To(gomega.Equal("hello world it is"))
}

// TestSegments: a long recording is cut in its pauses, and nothing of it is lost.
func TestSegments(t *testing.T) {
	g := gomega.NewWithT(t)
	resampler, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	sentence := resampler.FlushPCM16(resampler.AppendPCM16(nil, scripted.Tones("this is a sentence of some length")))
	var long []int16
	for range 12 {
		long = append(append(long, sentence...), make([]int16, pipeline.InputRate/2)...)
	}
	var whole []int16
	for _, s := range segments(long) {
		g.Expect(len(s)).To(gomega.BeNumerically("<=", longest))
		whole = append(whole, s...)
	}
	g.Expect(whole).To(gomega.Equal(long))
	g.Expect(len(segments(long))).To(gomega.BeNumerically(">", 1))
	g.Expect(segments(nil)).To(gomega.HaveLen(1))
}

// TestALongRecordingIsReadNoFurther checks that the server reads a recording that is too long only as far as it may be, whatever its rate is.
func TestALongRecordingIsReadNoFurther(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, rate := range []int{8000, 48000} {
		sound := bytes.NewReader(make([]byte, 40<<20))
		p := (&transcriptionRequest{}).recording(io.MultiReader(bytes.NewReader(wav.Header(rate, wav.Unknown)), sound))
		g.Expect(p).NotTo(gomega.BeNil())
		g.Expect(p.Message).To(gomega.ContainSubstring("longer than"))
		g.Expect(40<<20 - sound.Len()).To(gomega.BeNumerically("~", int(maxLength.Seconds())*rate*2, 64<<10))
	}
}
