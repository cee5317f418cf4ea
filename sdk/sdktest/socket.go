//go:build !js

package sdktest

// A WebSocket server for tests of native clients.

import (
	"context"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/wire"
)

// maxMessage is the size of the largest event that a Conn accepts, in bytes.
const maxMessage = 4 << 20

// Conn is a client's connection to a Handler. One goroutine at a time.
type Conn struct {
	ctx  context.Context
	conn *websocket.Conn
	nth  int
}

// Handler serves WebSockets (subprotocol "realtime") to clients of any origin. It calls serve for each connection; when serve
// returns, the connection is closed. With plain the server does not name itself an Antiphon. For use with httptest.NewServer.
func Handler(plain bool, serve func(*Conn)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !plain {
			w.Header().Set("Antiphon-Version", "test")
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}, OriginPatterns: []string{"*"}})
		if err != nil {
			return // Accept has answered
		}
		conn.SetReadLimit(maxMessage)
		defer func() { _ = conn.CloseNow() }() // after a proper end it does nothing
		serve(&Conn{ctx: r.Context(), conn: conn})
		_ = conn.Close(websocket.StatusNormalClosure, "") // a client that is gone needs none
	})
}

// Send sends these events, with new ids where they have none. It returns false when the client is gone.
func (c *Conn) Send(events ...wire.ServerEvent) bool {
	for _, e := range events {
		if e.ID() == "" {
			c.nth++
			e.SetID("event_" + strconv.Itoa(c.nth))
		}
		if !c.SendText(string(wire.AppendServer(nil, e))) {
			return false
		}
	}
	return true
}

// SendText sends any text. It returns false when the client is gone.
func (c *Conn) SendText(text string) bool {
	return c.conn.Write(c.ctx, websocket.MessageText, []byte(text)) == nil
}

// Next returns the client's next event. It skips input_audio_buffer.append. ok is false when the client is gone or sends an
// event that is not in the protocol.
func (c *Conn) Next() (e wire.ClientEvent, ok bool) {
	for {
		_, text, err := c.conn.Read(c.ctx)
		if err != nil {
			return nil, false
		}
		e, err := wire.DecodeClient(text)
		if err != nil {
			return nil, false
		}
		if _, sound := e.(*wire.InputAudioBufferAppend); !sound {
			return e, true
		}
	}
}

// Until returns the client's next event of this type, and skips the events before it.
func (c *Conn) Until(kind string) (e wire.ClientEvent, ok bool) {
	for {
		if e, ok = c.Next(); !ok || e.Type() == kind {
			return e, ok
		}
	}
}
