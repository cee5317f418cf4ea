package e2e

// Recognisers that are servers: in a call, each kind understands a spoken turn.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/rpc"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// TestEachKindOfRecogniser holds a call with each kind of recogniser that is a server. The stand-ins read the tones of the scripted pipeline.
func TestEachKindOfRecogniser(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		stt   string // the section of the configuration; URL stands for the address of the stand-in
		serve func(t *testing.T) string
	}{
		"a recording":              {"{kind: openai, url: URL/v1, model: m}", recordingServer},
		"a recording, streamed":    {"{kind: openai, url: URL/v1, model: m, stream: true}", recordingServer},
		"whisper.cpp":              {"{kind: whisper.cpp, url: URL}", recordingServer},
		"a socket, as of OpenAI":   {"{kind: openai-realtime, url: URL/v1}", func(t *testing.T) string { return open(t, nil, nil).url }},
		"a socket, as of speaches": {"{kind: openai-realtime, form: speaches, url: URL/v1, model: m}", socketServer},
		"a socket, as of vLLM":     {"{kind: openai-realtime, form: vllm, url: URL/v1, model: m}", socketServer},
		"a service of Wyoming":     {"{kind: wyoming, url: URL}", wyomingService},
		"a back end over gRPC":     {"{kind: grpc, url: URL}", grpcBackEnd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			text := "stt: " + strings.ReplaceAll(row.stt, "URL", row.serve(t)) + "\nllm: {kind: scripted}\ntts: {kind: scripted}\n"
			f, err := config.Parse("antiphon.yaml", []byte(text), nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			p, err := f.Pipeline(t.Context(), config.Env{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
			c := call(t, callOptions{url: open(t, nil, func(c *server.Config) { c.Pipeline = p }).url})
			c.voiceTurn("are you there")
		})
	}
}

// words returns the words in tones: mono, at pipeline.InputRate.
func words(ctx context.Context, pcm []int16) (text string, err error) {
	u, err := scripted.New(scripted.Options{}).Transcriber.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return "", err
	}
	defer func() { _ = u.Close() }() // it has ended
	if err := u.Write(voice.PCM16ToFloat(nil, pcm)); err != nil {
		return "", err
	}
	if err := u.CloseInput(); err != nil {
		return "", err
	}
	for r := range u.Results() {
		text, err = r.Text, r.Err
	}
	return text, err
}

// recordingServer is a stand-in for a server that takes whole recordings: /v1/audio/transcriptions, and whisper.cpp's /inference.
func recordingServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil {
			http.NotFound(w, r) // a question for the models, which such a server need not answer
			return
		}
		pcm, _, err := wav.ReadAll(file, 60*pipeline.InputRate)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := words(r.Context(), pcm)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if r.FormValue("stream") == "true" {
			w.Header().Set("Content-Type", "text/event-stream")
			quoted, _ := json.Marshal(text)
			_, _ = fmt.Fprintf(w, "data: {\"type\":\"transcript.text.delta\",\"delta\":%s}\n\ndata: {\"type\":\"transcript.text.done\",\"text\":%s}\n\n", quoted, quoted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"text": text, "segments": []any{map[string]any{"text": text, "no_speech_prob": 0}}})
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// socketServer is a stand-in for the transcription sockets of speaches and of vLLM.
func socketServer(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }() // the client may have closed it
		conn.SetReadLimit(1 << 20)
		rate := pipeline.InputRate // vLLM's
		if r.URL.Query().Has("intent") {
			rate = pipeline.OutputRate
		}
		hearSocket(ctx, conn, rate)
	}))
	t.Cleanup(func() { cancel(); s.CloseClientConnections(); s.Close() })
	return s.URL
}

// hearSocket recognises the utterances of one connection. It returns when the connection ends.
func hearSocket(ctx context.Context, conn *websocket.Conn, rate int) {
	send := func(event map[string]any) { _ = wsjson.Write(ctx, conn, event) } // the next read sees the end of the connection
	send(map[string]any{"type": "session.created"})
	var audio []byte
	for {
		var e struct {
			Type  string
			Audio []byte
		}
		if wsjson.Read(ctx, conn, &e) != nil {
			return
		}
		switch {
		case e.Type == "session.update":
			send(map[string]any{"type": "session.updated"})
		case e.Type == "input_audio_buffer.append":
			audio = append(audio, e.Audio...)
		case e.Type == "input_audio_buffer.commit" && len(audio) > 0: // vLLM's form begins with a commit
			text, err := words(ctx, resampled(audio, rate))
			if err != nil {
				send(map[string]any{"type": "error", "error": map[string]any{"message": err.Error()}})
				return
			}
			audio = nil
			if rate == pipeline.InputRate {
				send(map[string]any{"type": "transcription.done", "text": text})
			} else {
				send(map[string]any{"type": "input_audio_buffer.committed", "item_id": "a"})
				send(map[string]any{"type": "conversation.item.input_audio_transcription.completed", "item_id": "a", "transcript": text})
			}
		}
	}
}

// resampled returns 16-bit PCM of a rate at pipeline.InputRate.
func resampled(audio []byte, rate int) []int16 {
	pcm := voice.BytesToPCM16(nil, audio)
	if rate == pipeline.InputRate {
		return pcm
	}
	down, err := voice.NewResampler(rate, pipeline.InputRate)
	if err != nil {
		return nil
	}
	return down.FlushPCM16(down.AppendPCM16(nil, pcm))
}

// wyomingService is a stand-in for a Wyoming service that takes whole recordings.
func wyomingService(t *testing.T) string {
	t.Helper()
	g := gomega.NewWithT(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				hearWyoming(conn)
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return "tcp://" + l.Addr().String()
}

// hearWyoming answers the events of one connection. It returns when the connection ends.
func hearWyoming(conn net.Conn) {
	const info = `{"asr":[{"name":"stand-in","installed":true,"models":[{"name":"m","languages":["en"],"installed":true}]}]}`
	var audio []byte
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadBytes('\n')
		var e struct {
			Type    string
			Data    int `json:"data_length"`
			Payload int `json:"payload_length"`
		}
		if err != nil || json.Unmarshal(line, &e) != nil {
			return
		}
		body := make([]byte, e.Data+e.Payload)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		switch e.Type {
		case "describe":
			_, _ = fmt.Fprintf(conn, "{\"type\":\"info\",\"data_length\":%d}\n%s", len(info), info)
		case "audio-chunk":
			audio = append(audio, body[e.Data:]...)
		case "audio-stop":
			text, _ := words(context.Background(), voice.BytesToPCM16(nil, audio)) // without words the test fails
			quoted, _ := json.Marshal(text)
			_, _ = fmt.Fprintf(conn, "{\"type\":\"transcript\",\"data\":{\"text\":%s}}\n", quoted)
			audio = nil
		}
	}
}

// grpcBackEnd is a back end in Go.
func grpcBackEnd(t *testing.T) string {
	t.Helper()
	g := gomega.NewWithT(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- rpc.Serve(ctx, l, tonesEngine{}, 4) }()
	t.Cleanup(func() {
		cancel()
		g.Eventually(ended, patience).Should(gomega.Receive())
	})
	return "grpc://" + l.Addr().String()
}

// tonesEngine is a backend.Engine that recognises a whole utterance of tones.
type tonesEngine struct{}

func (tonesEngine) Open(context.Context, backend.Config) (backend.Stream, error) {
	return &tonesStream{}, nil
}
func (tonesEngine) Info() backend.Info { return backend.Info{Name: "tones", Live: true} }
func (tonesEngine) Close() error       { return nil }

type tonesStream struct{ pcm []int16 }

func (s *tonesStream) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	s.pcm = voice.FloatToPCM16(s.pcm, pcm)
	return backend.Update{}, nil
}

func (s *tonesStream) Finish(ctx context.Context) (backend.Result, error) {
	text, err := words(ctx, s.pcm)
	return backend.Result{Text: text}, err
}
func (s *tonesStream) Close() error { return nil }
