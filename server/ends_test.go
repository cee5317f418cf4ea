package server_test

// The ends of calls, and what they leave behind; calls at the same time; monitoring.

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestEnds checks that a call leaves nothing behind, however it ends, and that other calls go on. TestMain looks for goroutines.
func TestEnds(t *testing.T) {
	story(t, "the client closes", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		c := h.dial()
		other := h.dial()
		c.g.Expect(c.ws.Close(websocket.StatusNormalClosure, "bye")).To(gomega.Succeed())
		h.calls(1)
		goesOn(other)
	})

	story(t, "the client vanishes while it speaks", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		c := h.dial()
		c.speak(quiet(300))
		c.speak(scripted.Tones("hello the")[:24*600])
		first(c, "input_audio_buffer.speech_started")
		c.g.Expect(c.ws.CloseNow()).To(gomega.Succeed())
		h.calls(0)
	})

	story(t, "the client vanishes while the agent speaks, and while its words are transcribed", func(t *testing.T) {
		h := serve(t, byScript(t, `transcriber: {delay: 5s}`), nil)
		c := h.dial()
		c.ask("say 200 words")
		first(c, "response.output_audio.delta")
		c.say(quiet(300))
		c.say(scripted.Tones("stop it now"))
		c.say(quiet(700))
		first(c, "input_audio_buffer.committed")
		c.g.Expect(c.ws.CloseNow()).To(gomega.Succeed())
		h.calls(0)
	})
}

// TestClientsThatDoNotRead checks that a client which does not read does not disturb the others.
func TestClientsThatDoNotRead(t *testing.T) {
	story(t, "the client never reads", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		other := h.dial()
		h.deaf()
		h.calls(2)
		began := time.Now()
		h.calls(1)
		h.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 30*time.Second))
		goesOn(other)
	})

	story(t, "the client asks for more events than it reads", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		ws := h.deaf()
		began := time.Now()
		for range 5000 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := ws.Write(ctx, websocket.MessageText, []byte(`{"type":"input_audio_buffer.clear"}`))
			cancel()
			if err != nil {
				break
			}
		}
		h.calls(0)
		h.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 10*time.Second), "the server does not wait for it")
	})
}

// A client that is gone without a word is found by pings, and one that is quiet stays.
func TestPings(t *testing.T) {
	story(t, "the client answers no ping", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		quiet := h.dial()
		gone := h.callAnswering(false)
		first(gone, "session.created")
		h.calls(2)
		wait(3 * time.Minute)
		h.calls(1)
		goesOn(quiet)
	})
}

// TestEndsByTheServer checks calls that the server ends.
func TestEndsByTheServer(t *testing.T) {
	story(t, "the server stops while calls are open", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		silent, busy, stuck := h.dial(), h.dial(), h.dial()
		busy.ask("say 100 words")
		first(busy, "response.output_audio.delta")
		stuck.ask("stall")
		first(stuck, "response.created")
		h.close()
		for _, c := range []*client{silent, busy, stuck} {
			c.g.Expect(c.ended()).To(gomega.Equal(websocket.StatusGoingAway))
			c.g.Expect(c.names()).NotTo(gomega.ContainElement("error"))
		}
		busy.g.Expect(next[*wire.ResponseDone](busy, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		answer := h.get("/v1/realtime", "Connection", "Upgrade", "Upgrade", "websocket",
			"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		h.g.Expect(answer.status).To(gomega.Equal(http.StatusServiceUnavailable))
		h.g.Expect(answer.body).To(gomega.ContainSubstring("server_stopping"))
	})

	story(t, "a call lasts an hour at most", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		c := h.dial()
		began := time.Now()
		wait(59 * time.Minute)
		goesOn(c)
		wait(2 * time.Minute)
		c.g.Expect(c.ended()).To(gomega.Equal(websocket.StatusNormalClosure), "the error session_expired has told the client")
		h.calls(0)
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 62*time.Minute))
	})
}

// A server that stops loses no call for want of a drain: each ends at its pause.
func TestDrain(t *testing.T) {
	drain := func(h *host, within time.Duration) (drained chan error) {
		drained = make(chan error, 1)
		go func() { drained <- h.server.Drain(h.t.Context(), within) }()
		synctest.Wait()
		return drained
	}
	story(t, "a call ends when its answer has ended, and no other call begins", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		silent, busy := h.dial(), h.dial()
		busy.ask("say 20 words")
		first(busy, "response.output_audio.delta")
		began := time.Now()
		drained := drain(h, time.Minute)
		h.g.Expect(h.get("/readyz").status).To(gomega.Equal(http.StatusServiceUnavailable))
		h.g.Expect(h.get("/healthz").status).To(gomega.Equal(http.StatusOK))
		refused := h.get("/v1/realtime", "Connection", "Upgrade", "Upgrade", "websocket",
			"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		h.g.Expect(refused.body).To(gomega.ContainSubstring("server_stopping"))
		silent.g.Expect(silent.ended()).To(gomega.Equal(websocket.StatusGoingAway))
		h.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 3*time.Second))
		busy.g.Expect(next[*wire.ResponseDone](busy, "response.done").Response.Status).To(gomega.Equal("completed"))
		busy.g.Expect(busy.ended()).To(gomega.Equal(websocket.StatusGoingAway))
		h.g.Expect(<-drained).To(gomega.Succeed())
		h.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", time.Minute))
	})
	story(t, "a call that makes no pause ends at the limit", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		stuck := h.dial()
		stuck.ask("stall")
		first(stuck, "response.created")
		began := time.Now()
		drained := drain(h, 5*time.Second)
		stuck.g.Expect(stuck.ended()).To(gomega.Equal(websocket.StatusGoingAway))
		h.g.Expect(<-drained).To(gomega.Succeed())
		h.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 5*time.Second, time.Second))
	})
}

func TestSeveralCalls(t *testing.T) {
	// LocalAI#10391: the second connect hangs.
	story(t, "calls follow each other, and run at the same time", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		for range 3 {
			c := h.dial()
			goesOn(c)
			c.g.Expect(c.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
		}
		a, b := h.dial(), h.dial()
		goesOn(a)
		goesOn(b)
		now, total := h.server.Calls()
		h.g.Expect(now).To(gomega.Equal(2))
		h.g.Expect(total).To(gomega.Equal(uint64(5)))
	})

	story(t, "there are as many calls as the server takes", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.MaxSessions = 2 })
		a := h.dial()
		h.dial()
		_, resp, err := websocket.Dial(t.Context(), "ws://server.test/v1/realtime", &websocket.DialOptions{HTTPClient: h.web})
		h.g.Expect(err).To(gomega.HaveOccurred())
		h.g.Expect(resp.StatusCode).To(gomega.Equal(http.StatusTooManyRequests))
		_ = resp.Body.Close()
		goesOn(a)
		a.g.Expect(a.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
		h.calls(1)
		goesOn(h.dial())
	})
}

func TestMonitoring(t *testing.T) {
	story(t, "the server lives, is ready, and counts", func(t *testing.T) {
		h := serve(t, byScript(t, `load: 2s`), nil)
		h.g.Expect(h.get("/healthz").body).To(gomega.Equal("ok\n"))
		loading := h.get("/readyz")
		h.g.Expect(loading.status).To(gomega.Equal(http.StatusServiceUnavailable))
		h.g.Expect(loading.body).To(gomega.ContainSubstring("scripted: loading"))
		h.dial()
		h.g.Expect(h.get("/readyz").body).To(gomega.Equal("ready\n"))
		metrics := h.get("/metrics")
		h.g.Expect(metrics.header.Get("Content-Type")).To(gomega.HavePrefix("text/plain; version=0.0.4"))
		h.g.Expect(metrics.body).To(gomega.ContainSubstring("\nantiphon_sessions 1\n"))
		h.g.Expect(metrics.body).To(gomega.ContainSubstring("\nantiphon_sessions_total 1\n"))
		for line := range strings.Lines(metrics.body) {
			h.g.Expect(line).To(gomega.MatchRegexp(`^(# (HELP|TYPE) \w+ .*|\w+(\{.*\})? [-+\w.]+)\n$`))
		}
	})

	story(t, "Config.Page serves all other paths", func(t *testing.T) {
		page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) })
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.Page = page })
		h.g.Expect(h.get("/").body).To(gomega.Equal("page"))
		bare := serve(t, scripted.New(scripted.Options{}), nil)
		h.g.Expect(bare.get("/").status).To(gomega.Equal(http.StatusNotFound))
	})
}

func TestNew(t *testing.T) {
	_, err := server.New(server.Config{})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("Config.Pipeline is nil")))
}

// deaf opens a WebSocket that the client does not read.
func (h *host) deaf() *websocket.Conn {
	h.t.Helper()
	ws, _, err := websocket.Dial(h.t.Context(), "ws://server.test/v1/realtime", &websocket.DialOptions{HTTPClient: h.web}) //nolint:bodyclose // a WebSocket has none
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	h.t.Cleanup(func() { _ = ws.CloseNow() }) // the server may have closed it
	return ws
}

// calls waits until the server has n calls.
func (h *host) calls(n int) {
	h.t.Helper()
	for range int(patience / time.Millisecond) {
		if now, _ := h.server.Calls(); now == n {
			return
		}
		wait(time.Millisecond)
	}
	h.t.Fatalf("there are not %d calls", n)
}
