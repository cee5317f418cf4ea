package server_test

// Attacks on the doors for telephones over a WebSocket, by who has a key and by who has none.

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// A telephone that floods the server is slowed down: its messages wait, and the call goes on.
func TestFloodOfATelephone(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	for name, row := range map[string]struct {
		kind, text string
		n          int
	}{
		"large events":   {"json", `{"event":"NEWS","x":"` + long + `"}`, 1200},
		"small events":   {"twilio", `{"event":"mark","mark":{"name":"1"}}`, 5000},
		"on and off":     {"json", `{"event":"MEDIA_XOFF"}`, 5000},
		"audio of years": {"telnyx", `{"event":"media","media":{"payload":"` + strings.Repeat("AAAA", 15_000) + `"}}`, 1200},
	} {
		story(t, name, func(t *testing.T) {
			d := answering(t, nil)
			p := d.calls(row.kind)
			began := time.Now()
			for range row.n {
				p.text(row.text)
			}
			d.g.Expect(time.Since(began)).To(gomega.BeNumerically(">", 5*time.Second), "500 messages a second, one of each 16 KiB")
			if row.kind == "json" {
				p.text(`{"event":"MEDIA_XON"}`)
			}
			d.answers(p)
			p.hangUp()
			d.none()
		})
	}
}

// answers has the telephone ask something, and waits for the answer to it.
func (d *desk) answers(p *telephone) {
	d.t.Helper()
	p.asks("are you there")
	for {
		done := servertest.Next[*wire.ResponseDone](d.events.Inbox, "response.done")
		if m := done.Response.Output; len(m) > 0 && m[0].Content[0].Transcript != nil && *m[0].Content[0].Transcript == "You said: are you there" {
			return
		}
	}
}

// Marks that never come back, and marks that come back before they were sent, change nothing that the user notices.
func TestMarksOfALiar(t *testing.T) {
	for name, lie := range map[string]func(p *telephone){
		"never": func(p *telephone) { p.marks = nil },
		"all":   func(p *telephone) { p.early = true },
	} {
		story(t, name, func(t *testing.T) {
			d := answering(t, nil)
			p := d.calls("json")
			p.mu.Lock()
			lie(p)
			p.mu.Unlock()
			p.asks("say 60 words")
			d.events.First("output_audio_buffer.started")
			p.says(quiet(4000))
			before, _ := p.heard()
			p.says(scripted.Tones("stop it now please"))
			p.says(quiet(900))
			cut := servertest.Next[*wire.ConversationItemTruncated](d.events.Inbox, "conversation.item.truncated")
			since := time.Duration(cut.AudioEndMS)*time.Millisecond - time.Duration(len(before))*time.Second/time.Duration(p.rate)
			d.g.Expect(since).To(gomega.BeNumerically("~", 200*time.Millisecond, 200*time.Millisecond))
			p.hangUp()
			d.none()
		})
	}
}

// Nobody gets in without the door's key, whatever the request looks like, and no name of a door is told.
func TestNamesAndKeysOfDoors(t *testing.T) {
	story(t, "", func(t *testing.T) {
		d := answering(t, nil)
		right := signature("token of the account", twilioURL)["X-Twilio-Signature"][0]
		for i, row := range []struct {
			path   string
			header http.Header
		}{
			{"", nil},
			{"..", nil},
			{"%2e%2e%2fhealthz", nil},
			{"pbx%00", basic(phoneKey)},
			{"PBX", basic(phoneKey)},
			{"pbx%2f" + phoneKey, nil},
			{strings.Repeat("a", 4000), nil},
			{"pbx?key=" + phoneKey, nil},
			{"pbx", http.Header{"Authorization": {"Bearer " + phoneKey}}},
			{"pbx", http.Header{"Authorization": {"Basic !"}}},
			{"pbx", http.Header{"Authorization": {"Basic"}}},
			{"pbx", basic("")},
			{"pbx", basic(phoneKey + "x")},
			{"pbx", basic(phoneKey[:len(phoneKey)-1])},
			{"telnyx", signature(phoneKey, twilioURL)},
			{"telnyx/" + phoneKey + "%00", nil},
			{"telnyx/%61", nil},
			{"twilio", signature("", twilioURL)},
			{"twilio", http.Header{"X-Twilio-Signature": {right + "="}}},
			{"twilio", http.Header{"X-Twilio-Signature": {"", right}}},
			{"twilio", http.Header{"X-Twilio-Signature": {strings.Repeat("A", 100_000)}}},
			{"twilio/" + phoneKey, nil},
			{"twilio", basic("token of the account")},
		} {
			ws, r, err := d.dials(row.path, row.header) //nolint:bodyclose // the library has read it
			d.g.Expect(err).To(gomega.HaveOccurred(), fmt.Sprint(i))
			d.g.Expect(ws).To(gomega.BeNil())
			d.g.Expect(r.StatusCode).To(gomega.BeNumerically(">=", 300), fmt.Sprint(i))
			d.g.Expect(r.StatusCode).To(gomega.BeNumerically("<", 500), fmt.Sprint(i))
		}
		d.calls("telnyx").hangUp()
		d.none()
	})
}

// A connection that is half open, or whose messages never end, costs its place for a bounded time.
func TestHalfOpenTelephones(t *testing.T) {
	for name, during := range map[string]func(ctx context.Context, ws *websocket.Conn){
		"nothing after the handshake":   func(context.Context, *websocket.Conn) {},
		"pings alone":                   func(ctx context.Context, ws *websocket.Conn) { _ = ws.Ping(ctx) },
		"a message that never ends":     trickle,
		"greetings that begin no call":  func(ctx context.Context, ws *websocket.Conn) { chatter(ctx, ws, "STATUS x:y") },
		"a call, and then pings alone":  func(ctx context.Context, ws *websocket.Conn) { chatter(ctx, ws, starts["pbx"]); _ = ws.Ping(ctx) },
		"a call, and no message's end":  func(ctx context.Context, ws *websocket.Conn) { chatter(ctx, ws, starts["pbx"]); trickle(ctx, ws) },
		"a call, and no read of a word": func(ctx context.Context, ws *websocket.Conn) { chatter(ctx, ws, starts["pbx"]) },
	} {
		story(t, name, func(t *testing.T) {
			d := answering(t, func(c *server.Config) { c.Streams[0].Calls = 1 })
			ws, _, err := d.dials("pbx", basic(phoneKey)) //nolint:bodyclose // a WebSocket has none
			d.g.Expect(err).NotTo(gomega.HaveOccurred())
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() { defer close(over); during(ctx, ws) }()
			wait(45 * time.Second)
			p := d.calls("pbx") // the door has room for one
			p.hangUp()
			cancel()
			_ = ws.CloseNow()
			<-over
			d.none()
		})
	}
}

// chatter sends a text.
func chatter(ctx context.Context, ws *websocket.Conn, text string) {
	_ = ws.Write(ctx, websocket.MessageText, []byte(text)) // the server may have closed it
}

// trickle begins a message and does not end it.
func trickle(ctx context.Context, ws *websocket.Conn) {
	w, err := ws.Writer(ctx, websocket.MessageBinary)
	for i := 0; err == nil && i < 1000 && ctx.Err() == nil; i++ {
		_, err = w.Write([]byte("x"))
		wait(100 * time.Millisecond)
	}
}
