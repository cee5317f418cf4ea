package e2e

// The ends of calls: clients that disappear, networks that fail for seconds, and clients that do not read.

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// calls returns how many calls the server has now.
func (h *house) calls() int {
	now, _ := h.server.Calls()
	return now
}

// gone waits until the server has no call any more.
func (h *house) gone(c *caller) {
	c.Eventually(h.calls, patience).Should(gomega.BeZero())
}

// TestCallerVanishes: a client disappears while the user or the agent speaks. The server frees the call.
func TestCallerVanishes(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(t *testing.T, h *house){
		"WebRTC, no network": func(t *testing.T, h *house) {
			r := newRelay(t)
			c := call(t, callOptions{url: h.url, native: native.Options{Client: &http.Client{Transport: r}}})
			c.ask("say 60 words")
			c.begin()
			c.hear(time.Second)
			r.Block(true)
			h.gone(c)
			c.Expect(h.actions(t, "conn")).To(gomega.ContainElements("Lose", "GiveUp"))
		},
		"WebRTC, the page is closed": func(t *testing.T, h *house) {
			c := call(t, callOptions{url: h.url})
			c.ask("say 60 words")
			c.begin()
			c.hear(time.Second)
			c.hangUp()
			h.gone(c)
		},
		"WebRTC, in the user's own sentence": func(t *testing.T, h *house) {
			c := call(t, callOptions{url: h.url})
			_, err := c.mic.Speak(make([]int16, native.Rate/2))
			c.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = c.mic.Speak(tones(strings.Repeat("on and on ", 10)))
			c.Expect(err).NotTo(gomega.HaveOccurred())
			c.next("input_audio_buffer.speech_started")
			c.hangUp()
			h.gone(c)
		},
		"WebSocket, the connection is torn": func(t *testing.T, h *house) {
			w, client := newWireTap(t)
			c := call(t, callOptions{url: h.url, webSocket: true, native: native.Options{Client: client}})
			c.ask("say 60 words")
			c.begin()
			c.hear(time.Second)
			w.refuse()
			w.tear()
			h.gone(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vanish(t, open(t, nil, func(c *server.Config) { c.Grace, c.Keep = time.Second, time.Second }))
		})
	}
}

// TestCallSurvivesANetworkFailure: a call survives seconds without a network.
func TestCallSurvivesANetworkFailure(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	r := newRelay(t)
	c := call(t, callOptions{url: h.url, native: native.Options{Client: &http.Client{Transport: r}}})
	c.voiceTurn("before")
	// The client reports each second what it has received. The server sends again what no report has proved.
	c.Expect(c.speaker.AwaitSilence(t.Context(), 3*time.Second)).To(gomega.Succeed())
	r.Block(true)
	c.Eventually(func() []string { return h.actions(t, "conn") }, patience).Should(gomega.ContainElement("Lose"))
	c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Reconnecting))
	r.Block(false)
	c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Listening))
	c.voiceTurn("after")
	c.Expect(h.actions(t, "conn")).To(gomega.ContainElement("Restore"))
}

// TestCallerNeverReads: a client does not read its events. The server keeps a limited amount of them, and then ends the call.
func TestCallerNeverReads(t *testing.T) {
	t.Parallel()
	for name, deafen := range map[string]func(t *testing.T, h *house) *caller{
		"data channel": func(t *testing.T, h *house) *caller {
			c := call(t, callOptions{url: h.url})
			c.line.deaf.close()
			return c
		},
		"WebSocket": func(t *testing.T, h *house) *caller {
			w, client := newWireTap(t)
			c := call(t, callOptions{url: h.url, webSocket: true, native: native.Options{Client: client}})
			w.gate.close()
			t.Cleanup(w.gate.open)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			other := call(t, callOptions{url: h.url})
			c := deafen(t, h)
			c.send(&wire.ConversationItemCreate{Item: wire.Item{
				ID: "big", Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: strings.Repeat("big ", 25_000)}},
			}})
			c.Eventually(func() int {
				_ = c.line.peer().Send(wire.AppendClient(nil, &wire.ConversationItemRetrieve{ItemID: "big"})) // fails once the call is over
				return h.calls()
			}, patience, "2ms").Should(gomega.Equal(1))
			c.line.deaf.open()
			other.voiceTurn("I am still here")
		})
	}
}
