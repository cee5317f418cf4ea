package httpapi

// Reconnecting clients over HTTP and WebSocket.

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// connectExtended opens a WebSocket whose client knows our extensions.
func (d *harness) connectExtended(address, bearer string) *socketClient {
	d.t.Helper()
	p := d.connect(address, bearer)
	p.next("session.created")
	p.send(`{"type":"antiphon.hello","event_id":"hello"}`)
	ack, _ := p.next("antiphon.ack").(*wire.AntiphonAck)
	p.told, p.last = ack.Resume, ack.EventID
	return p
}

// expectReconnected checks the first event of a page that has reconnected.
func (p *socketClient) expectReconnected(seen string) {
	p.d.t.Helper()
	ack, is := p.first().(*wire.AntiphonAck)
	p.d.g.Expect(is).To(gomega.BeTrue())
	p.d.g.Expect(ack.Acknowledges).To(gomega.Equal(seen))
	p.d.g.Expect(ack.Resume).To(gomega.Equal(p.token()))
}

// token returns the token that reconnects the call.
func (p *socketClient) token() string { return p.answer.Header.Get("Antiphon-Resume") }

// reconnectURL returns the address that reconnects the call, with the events after the event seen.
func (p *socketClient) reconnectURL(address, seen string) string {
	return address + "?antiphon_resume=" + url.QueryEscape(p.token()) + "&antiphon_resume_after=" + url.QueryEscape(seen)
}

const talkInText = `{"type":"session.update","event_id":"u","session":{"type":"realtime","output_modalities":["text"]}}`

// TestReconnect checks that a client whose connection broke comes back to its conversation and gets each event that it has missed once.
func TestReconnect(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, key)
	d.g.Expect(p.token()).To(gomega.MatchRegexp(`^\w{26,}$`))
	d.g.Expect(p.answer.Header.Get("Antiphon-Resume-Seen")).To(gomega.BeEmpty())
	d.g.Expect(p.told).To(gomega.Equal(p.token()), "a page cannot read headers")
	p.send(talkInText)
	p.send(`{"type":"conversation.item.create","event_id":"i","item":{"id":"said","type":"message","role":"user","content":[{"type":"input_text","text":"say 30 words"}]}}`)
	p.send(`{"type":"response.create","event_id":"r"}`)
	created, _ := p.next("response.created").(*wire.ResponseCreated)
	d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())

	for round, seen := range []string{created.EventID, created.EventID} { // the connection may break again before the client has read anything
		if round == 1 {
			d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
		}
		p = d.connect(p.reconnectURL(address, seen), key)
		d.g.Expect(p.answer.Header.Get("Antiphon-Resume-Seen")).To(gomega.Equal("r"))
		p.expectReconnected("r")
		done, _ := p.next("response.done").(*wire.ResponseDone)
		d.g.Expect(done.Response.ID).To(gomega.Equal(created.Response.ID))
		d.g.Expect(done.Response.Status).To(gomega.Equal("completed"))
		d.g.Expect(p.seen).To(gomega.HaveKeyWithValue("response.output_item.added", 1))
		d.g.Expect(p.seen).NotTo(gomega.HaveKey("response.created"), "the client has seen it")
		d.g.Expect(p.seen).NotTo(gomega.HaveKey("session.created"), "it is the same session")
	}
	p.send(`{"type":"conversation.item.retrieve","item_id":"said"}`)
	got, _ := p.next("conversation.item.retrieved").(*wire.ConversationItemRetrieved)
	d.g.Expect(got.Item.Content[0].Text).To(gomega.Equal("say 30 words"))
	now, total := d.h.Calls()
	d.g.Expect(now).To(gomega.Equal(1))
	d.g.Expect(total).To(gomega.Equal(uint64(1)), "it is one call")

	d.g.Expect(p.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
	d.g.Eventually(func() int {
		now, _ := d.h.Calls()
		return now
	}, patience).Should(gomega.BeZero(), "the server does not wait for a client that closed the connection")
	d.connectRefused(p.reconnectURL(address, created.EventID), key, http.StatusNotFound, "resume_not_found")
}

// TestReconnectReplacesALiveConnection checks that a client can reconnect before the server knows that the old connection is dead.
func TestReconnectReplacesALiveConnection(t *testing.T) {
	d := open(t, nil)
	address := d.serve() + "/v1/realtime"
	old := d.connectExtended(address, "")
	began := time.Now()
	p := d.connect(old.reconnectURL(address, ""), "")
	d.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 2*time.Second), "the server does not wait for the old connection")
	d.g.Expect(p.answer.Header.Get("Antiphon-Resume")).To(gomega.Equal(old.token()))
	p.expectReconnected("hello")
	_, is := p.first().(*wire.SessionCreated)
	d.g.Expect(is).To(gomega.BeTrue(), "a client that has seen nothing gets all events")
	p.next("antiphon.ack")
	old.ended()
	p.send(talkAbout)
	p.send(`{"type":"response.create"}`)
	p.next("response.done")
	d.g.Expect(p.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
}

// TestReconnectWithAudio checks that audio which the client plays itself is sent again if it did not arrive, and that the audio continues.
func TestReconnectWithAudio(t *testing.T) {
	d := open(t, nil)
	address := d.serve() + "/v1/realtime"
	said := func(tear bool) (bytes int) {
		p := d.connectExtended(address, "")
		p.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 60 words"}]}}`)
		p.send(`{"type":"response.create"}`)
		for heard := 0; ; {
			switch e := p.first().(type) {
			case *wire.ResponseOutputAudioDelta:
				bytes += len(e.Delta)
				if heard++; heard == 3 && tear {
					d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
					p = d.connect(p.reconnectURL(address, e.EventID), "")
				}
			case *wire.ResponseDone:
				d.g.Expect(e.Response.Status).To(gomega.Equal("completed"))
				return bytes
			}
		}
	}
	d.g.Expect(said(true)).To(gomega.Equal(said(false)))
}

// TestReconnectDeliversEachEventOnce checks that the session takes every event of the client once and in order, and that
// every event of the server arrives once, however often the connection breaks.
func TestReconnectDeliversEachEventOnce(t *testing.T) {
	d := open(t, nil)
	address := d.serve() + "/v1/realtime"
	rnd := rand.New(rand.NewPCG(3, 1))
	p := d.connectExtended(address, "")
	event := func(n int) string {
		return fmt.Sprintf(`{"type":"conversation.item.create","event_id":"%d","item":{"id":"item_%d","type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`, n, n)
	}
	const all = 200
	sent, breaks, last := 0, 0, p.last
	var added []string
	for len(added) < all {
		for range rnd.IntN(20) {
			if sent < all {
				sent++
				p.send(event(sent))
			}
		}
		for range rnd.IntN(20) {
			if len(added) == min(sent, all) {
				break
			}
			e := p.first()
			last = e.ID()
			if a, is := e.(*wire.ConversationItemAdded); is {
				added = append(added, a.Item.ID)
			}
		}
		if rnd.IntN(3) > 0 || len(added) == all {
			continue
		}
		breaks++
		d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
		p = d.connect(p.reconnectURL(address, last), "")
		ack, _ := p.first().(*wire.AntiphonAck)
		taken, err := strconv.Atoi(ack.Acknowledges)
		if err != nil {
			taken = 0 // its hello was the last
		}
		for n := taken + 1; n <= sent; n++ {
			p.send(event(n))
		}
	}
	for i, id := range added {
		d.g.Expect(id).To(gomega.Equal(fmt.Sprintf("item_%d", i+1)))
	}
	d.g.Expect(breaks).To(gomega.BeNumerically(">", 3))
}

func TestRefusedReconnects(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, key)
	silent := d.connect(address, key)
	silent.next("session.created")
	webRTC := d.offered("/v1/realtime/calls", key)
	webRTC.begun()

	other := &socketClient{answer: &http.Response{Header: http.Header{"Antiphon-Resume": {"AAAABBBBCCCCDDDDEEEEFFFFGG"}}}}
	d.connectRefused(other.reconnectURL(address, ""), key, http.StatusNotFound, "resume_not_found")
	d.connectRefused(p.reconnectURL(address, ""), "another-key-of-the-house", http.StatusNotFound, "resume_not_found")
	d.connectRefused(p.reconnectURL(address, ""), d.secret(`{}`), http.StatusNotFound, "resume_not_found")
	d.connectRefused(p.reconnectURL(address, ""), "nobody", http.StatusUnauthorized, "invalid_api_key")
	d.connectRefused(p.reconnectURL(address, "event_of_nobody"), key, http.StatusGone, "resume_lost")
	d.connectRefused(silent.reconnectURL(address, ""), key, http.StatusNotFound, "resume_not_found") // it never said hello
	rtc := &socketClient{answer: webRTC.Result()}
	d.connectRefused(rtc.reconnectURL(address, ""), key, http.StatusBadRequest, "resume_transport")

	offered := func(token string, more ...string) answered {
		headers := append([]string{"Content-Type", "application/sdp", "Antiphon-Resume", token}, more...)
		return answered{d, d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(offer), append(headers, withKey...)...)}
	}
	offered(p.token()).refused(http.StatusBadRequest, "resume_transport")
	offered(rtc.token()).refused(http.StatusNotFound, "resume_not_found") // it never said hello
	offered("x").refused(http.StatusNotFound, "resume_not_found")
	offered("x", "Content-Type", "application/json").refused(http.StatusUnsupportedMediaType, "unsupported_media_type")

	c := d.h.findByToken(p.token(), requester{principal: "desk"})
	d.g.Expect(c.hub.Reserve("")).To(gomega.Succeed())
	d.connectRefused(p.reconnectURL(address, ""), key, http.StatusConflict, "resume_in_progress") // after reserveTimeout
	c.hub.Unreserve()

	p.send(talkAbout) // none of this has disturbed the call
	p.next("conversation.item.done")
	now, _ := d.h.Calls()
	d.g.Expect(now).To(gomega.Equal(3))
}

// TestEventsForAReconnectCount checks that the events that are kept for clients which reconnect count for the share of their principal, and what a client gets whose oldest ones are gone.
func TestEventsForAReconnectCount(t *testing.T) {
	const total = 4 << 20
	d := open(t, func(c *Config) { c.Keys, c.MessageMemory = keys(t), total })
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, key)
	text := `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat("x", 100<<10) + `"}]}}`
	var newest string
	for range 16 { // each text is in two events
		p.send(text)
		newest = p.next("conversation.item.done").ID()
	}
	d.g.Expect(d.h.messages.Held()["key desk"]).To(gomega.And(gomega.BeNumerically(">", total/8), gomega.BeNumerically("<=", total/4)))
	d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
	d.connectRefused(p.reconnectURL(address, p.last), key, http.StatusGone, "resume_lost")
	d.connect(p.reconnectURL(address, newest), key).next("antiphon.ack")
	d.g.Expect(d.h.Close(t.Context())).To(gomega.Succeed())
	d.g.Expect(d.h.messages.Held()).To(gomega.BeEmpty())
}

// TestReconnectWhileAnotherOneEnds checks that a client that comes back while the server is not done with the client's former attempt waits
// for that, and is not refused.
func TestReconnectWhileAnotherOneEnds(t *testing.T) {
	d := open(t, nil)
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, "")
	c := d.h.findByToken(p.token(), requester{})
	d.g.Expect(c.hub.Reserve("")).To(gomega.Succeed()) // the former attempt has its 101 and is not done
	waits := make(chan error, 1)
	go func() {
		err := d.h.reserve(t.Context(), c.hub, "")
		waits <- err
	}()
	d.g.Consistently(waits, 50*time.Millisecond).ShouldNot(gomega.Receive())
	c.hub.Unreserve()
	d.g.Eventually(waits, patience).Should(gomega.Receive(gomega.Not(gomega.HaveOccurred())))
	c.hub.Unreserve()
	for range 20 { // the connection is cut directly after each 101
		d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
		p = d.connect(p.reconnectURL(address, ""), "")
	}
	p.next("antiphon.ack")
}

// TestReconnectWithASecret checks that a secret for one call reconnects that call and begins no other.
func TestReconnectWithASecret(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Secrets.SingleUse = keys(t), true })
	address := d.serve() + "/v1/realtime"
	secret := d.secret(`{}`)
	p := d.connectExtended(address, secret)
	d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
	p = d.connect(p.reconnectURL(address, ""), secret)
	p.next("antiphon.ack")
	d.connectRefused(address, secret, http.StatusUnauthorized, "client_secret_used")
}

func TestReconnectIsCharged(t *testing.T) {
	d := open(t, func(c *Config) { c.Rates = Rates{RequestsPerMinute: 2} })
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, "")
	d.connectRefused(p.reconnectURL(address, "event_of_nobody"), "", http.StatusGone, "resume_lost")
	d.connectRefused(p.reconnectURL(address, ""), "", http.StatusTooManyRequests, "rate_limit_exceeded")
}

// TestTheWaitForAClientIsLimited checks that the server waits for a client no longer than Config.Keep.
func TestTheWaitForAClientIsLimited(t *testing.T) {
	d := open(t, func(c *Config) { c.Keep = 50 * time.Millisecond })
	p := d.connectExtended(d.serve()+"/v1/realtime", "")
	d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
	d.g.Eventually(func() int {
		now, _ := d.h.Calls()
		return now
	}, patience).Should(gomega.BeZero())
}

func TestBadRestarts(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	location := d.offered("/v1/realtime/calls", key).begun()
	restart := func(kind, body, bearer string) answered {
		return answered{d, d.ask(http.MethodPost, location+"/restart", strings.NewReader(body), "Content-Type", kind, "Authorization", "Bearer "+bearer)}
	}
	restart("application/sdp", offer, key).refused(http.StatusBadRequest, "invalid_offer") // it restarts nothing
	restart("application/sdp", "", key).refused(http.StatusBadRequest, "invalid_offer")    // it asks whether the call is here
	restart("application/sdp", "hello", key).refused(http.StatusBadRequest, "invalid_offer")
	restart("application/json", offer, key).refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
	restart("application/sdp", strings.Repeat("x", maxBody+1), key).refused(http.StatusRequestEntityTooLarge, "body_too_large")
	restart("application/sdp", "", "another-key-of-the-house").refused(http.StatusNotFound, "call_not_found")
	restart("application/sdp", offer, "another-key-of-the-house").refused(http.StatusNotFound, "call_not_found")
	restart("application/sdp", offer, "nobody").refused(http.StatusUnauthorized, "invalid_api_key")

	d.connect(d.serve()+"/v1/realtime", key).next("session.created")
	d.h.mu.Lock()
	for id := range d.h.calls {
		if strings.HasPrefix(id, "ws_") {
			location = "/v1/realtime/calls/" + id
		}
	}
	d.h.mu.Unlock()
	restart("application/sdp", offer, key).refused(http.StatusConflict, "restart_not_possible")
}

// TestABadOfferTakesNothing checks that a client which reconnects with a broken offer keeps the connection that it has.
func TestABadOfferTakesNothing(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	a := d.offered("/v1/realtime/calls", key)
	c := d.h.calls[strings.TrimPrefix(a.begun(), "/v1/realtime/calls/")]
	again := func(sdp string) answered {
		return answered{d, d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(sdp), "Content-Type", "application/sdp", "Authorization", "Bearer "+key, "Antiphon-Resume", c.token)}
	}
	c.session.Opened()
	c.session.Message([]byte(`{"type":"antiphon.hello"}`), true)
	d.g.Eventually(c.session.Resumable, patience).Should(gomega.BeTrue())
	again("hello").refused(http.StatusBadRequest, "invalid_offer")
	d.g.Expect(c.hub.Connected()).To(gomega.BeTrue())
	again(offer).begun()
}

// TestAnEventThatIsSentAgainCountsOnce checks that a client which does not read Antiphon-Resume-Seen, and sends its events again after each cut, is answered once.
func TestAnEventThatIsSentAgainCountsOnce(t *testing.T) {
	d := open(t, nil)
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, "")
	events := []string{
		talkInText,
		`{"type":"conversation.item.create","event_id":"i","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 3 words"}]}}`,
		`{"type":"response.create","event_id":"r"}`,
	}
	for _, text := range events {
		p.send(text)
	}
	done := p.next("response.done").ID()
	for range 2 {
		d.g.Expect(p.ws.CloseNow()).To(gomega.Succeed())
		p = d.connect(p.reconnectURL(address, done), "")
		p.expectReconnected("r")
		for i, text := range events {
			p.send(text)
			for {
				ack, _ := p.next("antiphon.ack").(*wire.AntiphonAck)
				if ack.Acknowledges == []string{"u", "i", "r"}[i] {
					break
				}
			}
		}
	}
	p.send(`{"type":"conversation.item.create","event_id":"i2","item":{"id":"last","type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`)
	added, _ := p.next("conversation.item.added").(*wire.ConversationItemAdded)
	d.g.Expect(added.Item.ID).To(gomega.Equal("last"))
	d.g.Expect(p.seen).NotTo(gomega.HaveKey("response.created"))
	d.g.Expect(p.seen).NotTo(gomega.HaveKey("session.updated"))
	p.send(events[2]) // a third time over this connection: its client uses the id for several events
	p.next("response.done")
}

// TestAReconnectHasNoNewBurst checks that a client that has sent too many events does not send faster over another connection.
func TestAReconnectHasNoNewBurst(t *testing.T) {
	d := open(t, func(c *Config) { c.EventsPerSecond = 1 })
	address := d.serve() + "/v1/realtime"
	p := d.connectExtended(address, "")
	for range 4 {
		p.send(`{"type":"input_audio_buffer.clear"}`)
	}
	p.refused("rate_limit_exceeded")
	p = d.connect(p.reconnectURL(address, p.last), "")
	p.next("error") // the one that it has got before
	p.send(`{"type":"input_audio_buffer.clear"}`)
	p.refused("rate_limit_exceeded")
}
