package httpapi

// Side-band control and WebSockets over HTTP: who may open them, and their limits.

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

const talkAbout = `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 3 words"}]}}`

// TestControl controls a call over WebRTC from the side (openai-agents-js#483: the call id is hidden, and only the page is in control).
// The call's client never connects, so all events that the test sees are for side-band controllers.
func TestControl(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Secrets.Locks = keys(t), conversation.Locks{"instructions"} })
	house := d.serve()
	theirs := d.secret(`{}`)
	location := d.offered("/v1/realtime/calls", theirs).begun()
	address := house + "/v1/realtime?call_id=" + location[strings.LastIndex(location, "/")+1:]

	rules := d.connect(address, key)
	d.g.Expect(rules.answer.Header.Get("Sec-WebSocket-Protocol")).To(gomega.Equal("realtime"))
	d.g.Expect(rules.answer.Header).NotTo(gomega.HaveKey("Sec-WebSocket-Extensions"), "events are not compressed")
	created, is := rules.first().(*wire.SessionCreated)
	d.g.Expect(is).To(gomega.BeTrue(), "session.created comes first")
	d.g.Expect(created.Session.ID).NotTo(gomega.BeEmpty())

	rules.send(`{"type":"session.update","session":{"type":"realtime","instructions":"Be kind.","output_modalities":["text"]}}`)
	rules.next("session.updated")
	second := d.connect(address, theirs)
	created, is = second.first().(*wire.SessionCreated)
	d.g.Expect(is).To(gomega.BeTrue(), "session.created comes first to a controller that joins late")
	d.g.Expect(created.ID()).NotTo(gomega.BeEmpty())
	d.g.Expect(created.Session.Instructions).To(gomega.Equal("Be kind."), "the session as it is now")

	second.send(`{"type":"session.update","event_id":"x","session":{"type":"realtime","instructions":"Be rude."}}`)
	second.refused("session_locked")

	rules.send(talkAbout)
	rules.send(`{"type":"response.create"}`)
	for _, p := range []*socketClient{rules, second} {
		done, _ := p.next("response.done").(*wire.ResponseDone)
		d.g.Expect(done.Response.Status).To(gomega.Equal("completed"))
	}
	d.g.Expect(rules.seen["error"]).To(gomega.BeZero(), "errors of another controller do not reach it")
	rules.send(`{"type":"nonsense"}`)
	rules.refused("unknown_event")

	d.g.Expect(second.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
	rules.send(`{"type":"response.create"}`)
	rules.next("response.done")

	for name, stranger := range map[string]string{"another secret": d.secret(`{}`), "another principal": "another-key-of-the-house"} {
		t.Run(name, func(t *testing.T) { d.in(t).connectRefused(address, stranger, http.StatusNotFound, "call_not_found") })
	}
	d.connectRefused(address, "nobody", http.StatusUnauthorized, "invalid_api_key")

	d.g.Expect(d.ask(http.MethodPost, location+"/hangup", nil, withKey...).Code).To(gomega.Equal(http.StatusOK))
	d.g.Expect(rules.ended()).To(gomega.Equal(websocket.StatusNormalClosure), "it ends with the call")
	d.g.Eventually(func() int {
		now, _ := d.h.Calls()
		return now
	}, patience).Should(gomega.BeZero())
	d.connectRefused(address, key, http.StatusNotFound, "call_not_found")
}

func TestControlIsBounded(t *testing.T) {
	d := open(t, nil)
	location := d.offered("/v1/realtime/calls", "").begun()
	address := d.serve() + "/v1/realtime?call_id=" + location[strings.LastIndex(location, "/")+1:]
	var all []*socketClient
	for range link.MaxControllers {
		all = append(all, d.connect(address, ""))
	}
	d.connectRefused(address, "", http.StatusTooManyRequests, "too_many_controllers")
	_ = all[0].ws.CloseNow()
	d.g.Eventually(func() error {
		ws, _, err := d.dial(address, "") //nolint:bodyclose // Dial has read it
		if err == nil {
			d.t.Cleanup(func() { _ = ws.CloseNow() })
		}
		return err
	}, patience).Should(gomega.Succeed(), "there is room again")
}

func TestSockets(t *testing.T) {
	d := open(t, func(c *Config) {
		c.Keys, c.MaxMessage, c.Secrets.SingleUse = keys(t), 4096, true
	})
	house := d.serve()
	t.Run("a secret as a subprotocol, once", func(t *testing.T) {
		d := d.in(t)
		s := d.secret(`{"session":{"type":"realtime","instructions":"Be brief."}}`)
		p := d.connect(house+"/v1/realtime?model=house", s)
		created, _ := p.first().(*wire.SessionCreated)
		d.g.Expect(created.Session.Instructions).To(gomega.Equal("Be brief."))
		d.g.Expect(created.Session.Model).To(gomega.Equal("house"))
		d.connectRefused(house+"/v1/realtime", s, http.StatusUnauthorized, "client_secret_used")
		d.connectRefused(house+"/v1/realtime?call_id=ws_x", s, http.StatusNotFound, "call_not_found")
	})
	t.Run("a transcription", func(t *testing.T) {
		d := d.in(t)
		created, _ := d.connect(house+"/v1/realtime?intent=transcription", key).first().(*wire.SessionCreated)
		d.g.Expect(created.Session.Type).To(gomega.Equal("transcription"))
		s := d.secret(`{"session":{"type":"transcription"}}`)
		d.connectRefused(house+"/v1/realtime?intent=realtime", s, http.StatusBadRequest, "invalid_value")
		created, _ = d.connect(house+"/v1/realtime", s).first().(*wire.SessionCreated)
		d.g.Expect(created.Session.Type).To(gomega.Equal("transcription"))
	})
	t.Run("a page of another origin", func(t *testing.T) {
		d := d.in(t)
		_, answer, err := websocket.Dial(t.Context(), house+"/v1/realtime", &websocket.DialOptions{ //nolint:bodyclose // Dial has read it
			Subprotocols: []string{"realtime", keyProtocol + key}, HTTPHeader: http.Header{"Origin": {"https://evil.test"}},
		})
		d.g.Expect(err).To(gomega.HaveOccurred())
		d.g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusForbidden))
	})
	t.Run("a message that is too large", func(t *testing.T) {
		d := d.in(t)
		p := d.connect(house+"/v1/realtime", key)
		p.next("session.created")
		p.send(`{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("x", 5000) + `"}}`)
		d.g.Expect(p.refused("message_too_large").Message).To(gomega.ContainSubstring("4096 bytes"))
		p.expectAnswer()
	})
}

// stoppedClock is an Env in which no time passes, and every timer fires at once.
type stoppedClock struct {
	env.Env
	now time.Time
}

func (c stoppedClock) Now() time.Time { return c.now }

func (c stoppedClock) AfterFunc(_ time.Duration, f func()) env.Timer { return c.Env.AfterFunc(0, f) }

// TestAFloodOfEvents checks that the server tells the client of a flood once, and loses no event. The clock stands, so that the test
// does not depend on how fast the machine is.
func TestAFloodOfEvents(t *testing.T) {
	d := open(t, func(c *Config) { c.EventsPerSecond = 100 })
	d.h.env = stoppedClock{env.System(), time.Now()}
	p := d.connect(d.serve()+"/v1/realtime", "")
	p.next("session.created")
	for i := range 420 {
		p.send(fmt.Sprintf(`{"type":"input_audio_buffer.clear","event_id":"e%d"}`, i))
	}
	d.g.Expect(p.refused("rate_limit_exceeded").Message).To(gomega.ContainSubstring("none is lost"))
	p.expectAnswer()
	d.g.Expect(p.seen["input_audio_buffer.cleared"]).To(gomega.Equal(420))
	d.g.Expect(p.seen["error"]).To(gomega.Equal(1))
}

// TestRatesOfResponses checks that responses draw on the same budget as requests, and that the client learns what is left.
func TestRatesOfResponses(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Rates = keys(t), Rates{RequestsPerMinute: 2, TokensPerMinute: 100_000} })
	p := d.connect(d.serve()+"/v1/realtime", key)
	p.next("session.created")
	p.expectAnswer()
	left, _ := p.next("rate_limits.updated").(*wire.RateLimitsUpdated)
	d.g.Expect(left.RateLimits).To(gomega.HaveLen(2))
	d.g.Expect(left.RateLimits[0].Name).To(gomega.Equal("requests"))
	d.g.Expect(left.RateLimits[0].Limit).To(gomega.Equal(2))
	d.g.Expect(left.RateLimits[0].Remaining).To(gomega.BeZero())
	d.g.Expect(left.RateLimits[1].Name).To(gomega.Equal("tokens"))
	d.g.Expect(left.RateLimits[1].Remaining).To(gomega.BeNumerically("<", 100_000))

	p.send(`{"type":"response.create"}`)
	done, _ := p.next("response.done").(*wire.ResponseDone)
	d.g.Expect(done.Response.Status).To(gomega.Equal("failed"))
	d.g.Expect(done.Response.StatusDetails.Error.Code).To(gomega.Equal("rate_limit_exceeded"))
	d.connectRefused(d.serve()+"/v1/realtime", key, http.StatusTooManyRequests, "rate_limit_exceeded")
}

// expectAnswer checks that the session still works: it answers a text.
func (p *socketClient) expectAnswer() {
	p.d.t.Helper()
	p.send(talkAbout)
	p.send(`{"type":"response.create","response":{"output_modalities":["text"]}}`)
	done, _ := p.next("response.done").(*wire.ResponseDone)
	p.d.g.Expect(done.Response.Status).To(gomega.Equal("completed"))
}
