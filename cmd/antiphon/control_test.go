package main

// Side-band control of a WebRTC call, through the whole program.

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// party is a client or a side-band controller of a call, with the events that it gets, in order.
type party struct {
	t      *testing.T
	g      *gomega.WithT
	send   func(text string) error
	events chan wire.ServerEvent
	ended  chan struct{}
}

func newParty(t *testing.T) *party {
	return &party{t: t, g: gomega.NewWithT(t), events: make(chan wire.ServerEvent, 4096), ended: make(chan struct{})}
}

func (p *party) heard(text []byte) {
	if e, err := wire.DecodeServer(text); err != nil {
		p.t.Errorf("the server sent %.200s: %v", text, err)
	} else {
		p.events <- e
	}
}

// next waits for the next event of type E and skips the others.
func next[E wire.ServerEvent](p *party) E {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		select {
		case e := <-p.events:
			if is, ok := e.(E); ok {
				return is
			}
			if _, sound := e.(*wire.ResponseOutputAudioDelta); sound {
				p.t.Error("the sound of a WebRTC call comes in no event")
			}
			if bad, is := e.(*wire.ErrorEvent); is {
				p.t.Errorf("an error for another client's event: %s", bad.Error.Code)
			}
		case <-ctx.Done():
			var want E
			p.t.Fatalf("no %T came", want)
		}
	}
}

func (p *party) says(text string) {
	p.t.Helper()
	p.g.Expect(p.send(text)).To(gomega.Succeed())
}

// floods sends more events than the server takes at once, and returns the error that the server answers. A machine that stands still in
// between makes a batch slow enough for the server. Then the server answers each event of the batch, and the next batch follows.
func (p *party) floods() *wire.ErrorEvent {
	p.t.Helper()
	const batch = 250
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for answers := batch; ; {
		if answers == batch {
			answers = 0
			for range batch {
				p.says(`{"type":"input_audio_buffer.clear"}`)
			}
		}
		select {
		case e := <-p.events:
			switch e := e.(type) {
			case *wire.ErrorEvent:
				return e
			case *wire.InputAudioBufferCleared:
				answers++
			}
		case <-ctx.Done():
			p.t.Fatal("the server takes every flood")
		}
	}
}

func (p *party) isOver() {
	p.t.Helper()
	p.g.Eventually(p.ended, patience).Should(gomega.BeClosed())
}

// locating is a RoundTripper that keeps the Location header, which names the call.
type locating struct{ location string }

// RoundTrip implements http.RoundTripper.
func (l *locating) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && answer.Header.Get("Location") != "" {
		l.location = answer.Header.Get("Location")
	}
	return answer, err
}

// exchange is a server with one API key.
type exchange struct {
	t        *testing.T
	g        *gomega.WithT
	url, key string
}

func openExchange(t *testing.T) *exchange {
	t.Helper()
	g := gomega.NewWithT(t)
	key, line, err := apikey.New("desk")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	keys, err := apikey.Read(strings.NewReader(line))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := scripted.New(scripted.Options{})
	s, err := server.New(server.Config{
		Pipeline: p, Loopback: true, Limits: httpapi.Limits{EventsPerSecond: 50}, Watch: server.Watch{CheckInvariants: true},
		Access: server.Access{Keys: keys, Secrets: httpapi.SecretRules{SingleUse: true, Locks: conversation.Locks{"instructions"}}},
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(s.Close(ctx)).To(gomega.Succeed())
		web.Close()
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return &exchange{t, g, web.URL, key}
}

// post sends a request with the key.
func (x *exchange) post(path, body string) []byte {
	x.t.Helper()
	r, err := http.NewRequestWithContext(x.t.Context(), http.MethodPost, x.url+path, strings.NewReader(body))
	x.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+x.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	x.g.Expect(err).NotTo(gomega.HaveOccurred())
	text, err := io.ReadAll(answer.Body)
	x.g.Expect(err).NotTo(gomega.HaveOccurred())
	x.g.Expect(answer.Body.Close()).To(gomega.Succeed())
	x.g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK), string(text))
	return text
}

// secret makes a client secret.
func (x *exchange) secret(body string) string {
	x.t.Helper()
	var told struct{ Value string }
	x.g.Expect(json.Unmarshal(x.post("/v1/realtime/client_secrets", body), &told)).To(gomega.Succeed())
	return told.Value
}

// call places a call over WebRTC and returns its client and the call's path at the server.
func (x *exchange) call(bearer string) (p *party, location string) {
	x.t.Helper()
	p = newParty(x.t)
	transport := &locating{}
	var end sync.Once
	d, err := native.NewDialer(native.Options{URL: x.url, Key: bearer, Client: &http.Client{Transport: transport}, Loopback: true})
	x.g.Expect(err).NotTo(gomega.HaveOccurred())
	peer, err := d.Dial(x.t.Context(), sdk.CallConfig{}, func(e sdk.PeerEvent) {
		switch e := e.(type) {
		case sdk.Message:
			p.heard(e.Data)
		case sdk.PeerEnded:
			end.Do(func() { close(p.ended) })
		}
	})
	x.g.Expect(err).NotTo(gomega.HaveOccurred())
	x.t.Cleanup(func() { _ = peer.Close() }) // the call has ended
	p.send = func(text string) error { return peer.Send([]byte(text)) }
	return p, transport.location
}

// control joins a call as a side-band controller.
func (x *exchange) control(location string) *party {
	x.t.Helper()
	p := newParty(x.t)
	id := location[strings.LastIndex(location, "/")+1:]
	ws, _, err := websocket.Dial(x.t.Context(), x.url+"/v1/realtime?call_id="+id, //nolint:bodyclose // a WebSocket has none
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + x.key}}})
	x.g.Expect(err).NotTo(gomega.HaveOccurred())
	ws.SetReadLimit(-1)
	go func() {
		defer close(p.ended)
		for {
			_, text, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			p.heard(text)
		}
	}()
	x.t.Cleanup(func() {
		_ = ws.CloseNow() // the server has closed it
		<-p.ended
	})
	p.send = func(text string) error { return ws.Write(x.t.Context(), websocket.MessageText, []byte(text)) }
	return p
}

// TestControlOfAWebRTCCall: a program with the API key controls a call that another client has placed with a client secret.
func TestControlOfAWebRTCCall(t *testing.T) {
	x := openExchange(t)
	caller, location := x.call(x.secret(`{"session":{"type":"realtime","instructions":"Be brief."}}`))
	created := next[*wire.SessionCreated](caller)
	x.g.Expect(created.Session.Instructions).To(gomega.Equal("Be brief."))
	side := x.control(location)
	x.g.Expect(next[*wire.SessionCreated](side).Session.ID).To(gomega.Equal(created.Session.ID))

	t.Run("the controller may change what the client secret locks", func(t *testing.T) {
		update := `{"type":"session.update","session":{"type":"realtime","instructions":"Be kind."}}`
		caller.says(update)
		x.g.Expect(next[*wire.ErrorEvent](caller).Error.Code).To(gomega.Equal(conversation.CodeLocked))
		side.says(update)
		for _, p := range []*party{caller, side} {
			x.g.Expect(next[*wire.SessionUpdated](p).Session.Instructions).To(gomega.Equal("Be kind."))
		}
	})
	t.Run("the controller makes the agent speak, and stops it", func(t *testing.T) {
		side.says(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 200 words"}]}}`)
		side.says(`{"type":"response.create","event_id":"mine"}`)
		var heard []string
		for _, p := range []*party{caller, side} {
			heard = append(heard, next[*wire.OutputAudioBufferStarted](p).ResponseID)
		}
		x.g.Expect(heard[0]).To(gomega.Equal(heard[1]))
		side.says(`{"type":"response.cancel"}`)
		side.says(`{"type":"output_audio_buffer.clear"}`)
		for _, p := range []*party{caller, side} {
			x.g.Expect(next[*wire.OutputAudioBufferCleared](p).ResponseID).To(gomega.Equal(heard[0]))
		}
	})
	t.Run("the controller gets the events of the caller's actions", func(*testing.T) {
		caller.says(`{"type":"input_audio_buffer.clear"}`)
		next[*wire.InputAudioBufferCleared](side)
	})
	t.Run("a flood of the caller's events is slowed and reported", func(*testing.T) {
		x.g.Expect(caller.floods().Error.Code).To(gomega.Equal("rate_limit_exceeded"))
		next[*wire.InputAudioBufferCleared](caller)
	})
	t.Run("it ends with the call", func(*testing.T) {
		x.post(location+"/hangup", "")
		caller.isOver()
		side.isOver()
	})
}
