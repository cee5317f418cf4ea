package stt

// Realtime transcription with stand-ins of the three forms of servers.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// client is the client's side of a connection, as a stand-in sees it.
type client struct {
	*websocket.Conn
	ctx     context.Context //nolint:containedctx // a test's
	query   string
	key     string
	number  int // of the connection
	updates []object
	bytes   int // of audio since the last commit
}

// event is an event of a client.
type event struct {
	Type    string
	Audio   []byte
	Final   bool
	Model   string
	Session object
}

// send sends an event. A connection that the client has closed is no fault of the test.
func (c *client) send(v object) { _ = wsjson.Write(c.ctx, c.Conn, v) }

// next returns the next event that is not audio; false at the end of the connection.
func (c *client) next() (e event, ok bool) {
	for {
		e = event{}
		if wsjson.Read(c.ctx, c.Conn, &e) != nil {
			return e, false
		}
		if e.Type != "input_audio_buffer.append" {
			return e, true
		}
		c.bytes += len(e.Audio)
	}
}

// sockets starts a stand-in that ends with the test.
func sockets(t *testing.T, handle func(c *client)) string {
	t.Helper()
	var n atomic.Int32
	ctx, cancel := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }() // it may be closed
		conn.SetReadLimit(1 << 20)
		c := &client{Conn: conn, ctx: ctx, query: r.URL.Path + "?" + r.URL.RawQuery, key: r.Header.Get("Authorization"), number: int(n.Add(1))}
		handle(c)
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}))
	t.Cleanup(func() { cancel(); s.CloseClientConnections(); s.Close() })
	return s.URL
}

// likeOpenAI transcribes as OpenAI does: after the commit, in deltas.
func likeOpenAI(g gomega.Gomega) func(c *client) {
	return func(c *client) {
		c.send(object{"type": "session.created"})
		for {
			e, ok := c.next()
			switch {
			case !ok:
				return
			case e.Type == "session.update":
				c.updates = append(c.updates, e.Session)
				c.send(object{"type": "session.updated"})
			case c.bytes < 4800:
				c.send(object{"type": "error", "error": object{"code": "input_audio_buffer_commit_empty", "message": "buffer too small"}})
			default:
				g.Expect(e.Type).To(gomega.Equal("input_audio_buffer.commit"))
				c.send(object{"type": "input_audio_buffer.committed", "item_id": "a"})
				c.send(object{"type": "conversation.item.input_audio_transcription.delta", "item_id": "a", "delta": "about"})
				c.send(object{"type": "conversation.item.input_audio_transcription.delta", "item_id": "a", "delta": " time"})
				c.send(object{"type": "conversation.item.input_audio_transcription.completed", "item_id": "a", "transcript": c.summary(24000)})
			}
		}
	}
}

// summary says what the connection was.
func (c *client) summary(rate int) string {
	var b []byte
	if len(c.updates) > 0 {
		b, _ = json.Marshal(c.updates[0])
	}
	return fmt.Sprintf("%.1f seconds %s %s %s", float64(c.bytes)/float64(2*rate), c.query, c.key, b)
}

// realtime returns a transcriber of the server at url.
func realtime(t *testing.T, url string, o RealtimeOptions) *Realtime {
	t.Helper()
	o.Server.URLs = []string{url + "/v1"}
	if o.Server.FirstByte == 0 {
		o.Server.FirstByte, o.Server.Idle = 5*time.Second, 5*time.Second
	}
	r, err := NewRealtime(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestRealtimeOfOpenAI(t *testing.T) {
	g := gomega.NewWithT(t)
	r := realtime(t, sockets(t, likeOpenAI(g)), RealtimeOptions{Model: "gpt-4o-transcribe", Server: remote.Config{Key: "sk-1"}})
	c := pipeline.TranscribeConfig{Live: true, Language: "en-US", Prompt: "Antiphon", Model: "whisper-1"}
	all := pipetest.Hear(t, r, c, pipetest.Silence(2))
	end := pipetest.Last(all)
	g.Expect(end.Err).NotTo(gomega.HaveOccurred())
	g.Expect(end.Text).To(gomega.HavePrefix("2.0 seconds /v1/realtime?intent=transcription Bearer sk-1 "))
	g.Expect(end.Text).To(gomega.HaveSuffix(`{"audio":{"input":{"format":{"rate":24000,"type":"audio/pcm"},` +
		`"transcription":{"language":"en","model":"gpt-4o-transcribe","prompt":"Antiphon"},"turn_detection":null}},"type":"transcription"}`))
	for _, p := range all[:len(all)-1] {
		g.Expect(p.Partial).To(gomega.Or(gomega.Equal("about"), gomega.Equal("about time"), gomega.Equal(end.Text)))
	}
	g.Expect(r.Component().State).To(gomega.Equal(pipeline.StateReady))
	g.Expect(r.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(pipetest.Last(pipetest.Hear(t, r, c, pipetest.Silence(0.05))).Text).To(gomega.BeEmpty(), "OpenAI refuses less than 0.1 s")
	g.Expect(pipetest.Last(pipetest.Hear(t, r, c, nil))).To(gomega.Equal(pipeline.TranscriptResult{Final: true}))
	c.Words = true
	g.Expect(r.NegotiateConfig(c)).To(gomega.Equal(pipeline.TranscribeConfig{Live: true, Language: "en-US", Prompt: "Antiphon"}))
}

// TestRealtimeOfSpeaches: the model is in the query, an unsupported field is no failure, and the server may cut the utterance itself.
func TestRealtimeOfSpeaches(t *testing.T) {
	g := gomega.NewWithT(t)
	r := realtime(t, sockets(t, func(c *client) {
		c.send(object{"type": "session.created"})
		e, _ := c.next()
		g.Expect(e.Session["turn_detection"]).To(gomega.HaveKeyWithValue("threshold", 1.0))
		c.send(object{"type": "error", "error": object{"type": "invalid_request_error", "message": "Specifying `session.turn_detection.prefix_padding_ms` is not supported."}})
		c.send(object{"type": "input_audio_buffer.committed", "item_id": "a"})
		_, _ = c.next()
		c.send(object{"type": "input_audio_buffer.committed", "item_id": "b"})
		c.send(object{"type": "conversation.item.input_audio_transcription.completed", "item_id": "b", "transcript": c.query})
		c.send(object{"type": "conversation.item.input_audio_transcription.completed", "item_id": "a", "transcript": "First, "})
		_, _ = c.next()
	}), RealtimeOptions{Form: SocketSpeaches, Model: "Systran/base"})
	end := pipetest.Last(pipetest.Hear(t, r, pipeline.TranscribeConfig{Live: true, Language: "en"}, pipetest.Silence(1)))
	g.Expect(end.Err).NotTo(gomega.HaveOccurred())
	g.Expect(end.Text).To(gomega.Equal("First, /v1/realtime?intent=transcription&language=en&model=Systran%2Fbase"))
}

// TestRealtimeOfVLLM: a commit begins the recognition, and a final one ends it. Pieces come while the audio goes out.
func TestRealtimeOfVLLM(t *testing.T) {
	g := gomega.NewWithT(t)
	shown := make(chan struct{})
	url := sockets(t, func(c *client) {
		c.send(object{"type": "session.created", "id": "x"})
		e, _ := c.next()
		g.Expect([]any{e.Type, e.Model}).To(gomega.Equal([]any{"session.update", "voxtral"}))
		e, _ = c.next()
		g.Expect([]any{e.Type, e.Final, c.bytes}).To(gomega.Equal([]any{"input_audio_buffer.commit", false, 0}))
		c.send(object{"type": "transcription.delta", "delta": " Good"})
		<-shown
		c.send(object{"type": "transcription.delta", "delta": " day"})
		e, _ = c.next()
		g.Expect([]any{e.Type, e.Final}).To(gomega.Equal([]any{"input_audio_buffer.commit", true}))
		c.send(object{"type": "transcription.done", "text": c.summary(16000), "usage": object{"total_tokens": 3}})
		_, _ = c.next()
	})
	u, err := realtime(t, url, RealtimeOptions{Form: SocketVLLM, Model: "voxtral"}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer u.Close()
	g.Expect(u.Write(pipetest.Silence(1))).To(gomega.Succeed())
	g.Expect((<-u.Results()).Partial).To(gomega.Equal("Good"))
	close(shown)
	g.Expect((<-u.Results()).Partial).To(gomega.Equal("Good day"))
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	var end pipeline.TranscriptResult
	for end = range u.Results() {
	}
	g.Expect(end.Text).To(gomega.Equal("1.0 seconds /v1/realtime?"))
}

// TestABrokenConnectionIsReplaced: the second connection gets all audio. A second break is the end.
func TestABrokenConnectionIsReplaced(t *testing.T) {
	for breaks := 1; breaks <= 2; breaks++ {
		g := gomega.NewWithT(t)
		good := likeOpenAI(g)
		url := sockets(t, func(c *client) {
			if c.number > breaks {
				good(c)
				return
			}
			var e event
			_ = wsjson.Read(c.ctx, c.Conn, &e)
			_ = wsjson.Read(c.ctx, c.Conn, &e) // the first audio
			_ = c.Close(websocket.StatusGoingAway, "restart of sk-1")
		})
		r := realtime(t, url, RealtimeOptions{Server: remote.Config{Key: "sk-1"}})
		end := pipetest.Last(pipetest.Hear(t, r, pipeline.TranscribeConfig{Live: true}, pipetest.Silence(3)))
		if breaks == 1 {
			g.Expect(end.Err).NotTo(gomega.HaveOccurred())
			g.Expect(end.Text).To(gomega.HavePrefix("3.0 seconds"))
			continue
		}
		g.Expect(end.Err).To(gomega.MatchError(backend.ErrLost))
		g.Expect(end.Err).To(gomega.MatchError(gomega.ContainSubstring("transcriber: " + url + "/v1/realtime lost the connection: closed with 1001 restart of ***")))
	}
}

func TestBadSockets(t *testing.T) {
	after := func(v ...object) func(*client) {
		return func(c *client) {
			_, _ = c.next()
			_, _ = c.next()
			for _, e := range v {
				c.send(e)
			}
			_, _ = c.next()
		}
	}
	delta := object{"type": "conversation.item.input_audio_transcription.delta", "item_id": "a", "delta": strings.Repeat("a", maxText+1)}
	for name, test := range map[string]struct {
		handle func(*client)
		want   string
	}{
		"says nothing":       {after(), "sent nothing for 300ms after the end of the audio"},
		"never completes":    {after(object{"type": "input_audio_buffer.committed", "item_id": "a"}), "sent nothing for 300ms after the end of the audio"},
		"an error":           {after(object{"type": "error", "error": object{"message": "no model \"x\" for sk-1", "code": "model_not_found"}}), `answered with an error: no model "x" for ***`},
		"an error of vLLM's": {after(object{"type": "error", "error": "Invalid audio data", "code": "invalid_audio"}), "answered with an error: Invalid audio data"},
		"a failed item": {
			after(object{"type": "conversation.item.input_audio_transcription.failed", "item_id": "a", "error": object{"message": "too noisy"}}),
			"answered with an error: too noisy",
		},
		"no object":     {func(c *client) { _ = c.Write(c.ctx, websocket.MessageText, []byte("hello")); _, _ = c.next() }, "sent an event that cannot be read: hello"},
		"binary":        {func(c *client) { _ = c.Write(c.ctx, websocket.MessageBinary, []byte{1}); _, _ = c.next() }, "sent a binary event"},
		"a huge event":  {after(object{"type": "x", "x": strings.Repeat("a", maxEvent)}), "sent an event of more than 262144 bytes"},
		"too much text": {after(delta), "sent more than 65536 bytes of text"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			url := sockets(t, test.handle)
			c := remote.Config{Key: "sk-1"}
			if strings.HasPrefix(test.want, "sent nothing") { // the other servers answer, on a busy machine after a while
				c.FirstByte, c.Idle = 300*time.Millisecond, 300*time.Millisecond
			}
			r := realtime(t, url, RealtimeOptions{Server: c})
			end := pipetest.Last(pipetest.Hear(t, r, pipeline.TranscribeConfig{Live: true}, pipetest.Silence(1)))
			var stage *pipeline.StageError
			g.Expect(errors.As(end.Err, &stage)).To(gomega.BeTrue(), "%v", end.Err)
			g.Expect(end.Err.Error()).To(gomega.HavePrefix("transcriber: " + url + "/v1/realtime " + test.want))
			g.Expect(end.Err.Error()).NotTo(gomega.ContainSubstring("sk-1"))
			g.Expect(r.Component().State).To(gomega.Equal(pipeline.StateFailed))
		})
	}
}

func TestServersWithoutSockets(t *testing.T) {
	for want, handle := range map[string]http.HandlerFunc{
		"answered 401 Unauthorized: bad key *** (check key_env": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"bad key sk-1"}`, http.StatusUnauthorized)
		},
		"answered 404 Not Found: no page":              func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no page", http.StatusNotFound) },
		"answered without opening a WebSocket: <html>": func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") },
		"did not answer within 300ms":                  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"redirects to another host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere/", http.StatusTemporaryRedirect)
		},
	} {
		t.Run(want, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := httptest.NewServer(handle)
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			c := remote.Config{Key: "sk-1", Rounds: 1}
			if strings.HasPrefix(want, "did not answer") {
				c.FirstByte = 300 * time.Millisecond
			}
			r := realtime(t, s.URL, RealtimeOptions{Server: c})
			_, err := r.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("transcriber: " + s.URL + "/v1/realtime " + want)))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("sk-1"))
		})
	}
	_, err := NewRealtime(RealtimeOptions{Form: SocketVLLM})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("model: servers of the form vllm")))
}

func TestTheContextEndsASocket(t *testing.T) {
	heard, ended := make(chan struct{}), make(chan struct{})
	url := sockets(t, func(c *client) {
		_, _ = c.next()
		_, _ = c.next()
		close(heard)
		_, _ = c.next()
		close(ended)
	})
	pipetest.EndsWithItsContext(t, realtime(t, url, RealtimeOptions{}), pipeline.TranscribeConfig{Live: true}, heard, ended)
}
