package e2e

// Messages that are no events: binary ones and ones that are too large.

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/bare"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// stranger is a client without the SDK, which can send any message.
type stranger struct {
	*gomega.WithT
	send func(data []byte, text bool) error
	read func() ([]byte, error)
}

func strangeSocket(t *testing.T, h *house) *stranger {
	g := gomega.NewWithT(t)
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(h.url, "http", "ws", 1)+"/v1/realtime", nil) //nolint:bodyclose // a WebSocket has none
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &stranger{
		g,
		func(data []byte, text bool) error {
			kind := websocket.MessageBinary
			if text {
				kind = websocket.MessageText
			}
			return ws.Write(t.Context(), kind, data)
		},
		func() ([]byte, error) {
			_, data, err := ws.Read(t.Context())
			return data, err
		},
	}
}

func strangePeer(t *testing.T, h *house, client *http.Client) *stranger {
	g := gomega.NewWithT(t)
	peer, err := bare.Call(t.Context(), client, h.url)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = peer.Close() }) // the server may have ended it
	return &stranger{g, peer.Send, func() ([]byte, error) {
		select {
		case data := <-peer.Messages():
			return data, nil
		case <-t.Context().Done():
			return nil, t.Context().Err()
		}
	}}
}

// update changes the session.
const update = `{"type":"session.update","session":{"type":"realtime","instructions":"go on"}}`

// refusedOnce sends a bad message and then a good one. The server refuses the first with an error that contains words, and takes the
// second.
func (s *stranger) refusedOnce(data []byte, text bool, words string) {
	s.Expect(s.send(data, text)).To(gomega.Succeed())
	s.Expect(s.send([]byte(update), true)).To(gomega.Succeed())
	var told []string
	for len(told) < 4 {
		data, err := s.read()
		s.Expect(err).NotTo(gomega.HaveOccurred())
		e, err := wire.DecodeServer(data)
		s.Expect(err).NotTo(gomega.HaveOccurred())
		if refusal, is := e.(*wire.ErrorEvent); is {
			s.Expect(refusal.Error.Message).To(gomega.ContainSubstring(words))
		}
		told = append(told, e.Type())
	}
	s.Expect(told).To(gomega.Equal([]string{"session.created", "conversation.created", "error", "session.updated"}))
}

// TestBinaryMessages: the server refuses binary messages on either transport.
func TestBinaryMessages(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	strangePeer(t, h, http.DefaultClient).refusedOnce([]byte("\x00\x01\xff"), false, "send JSON text")
	strangeSocket(t, h).refusedOnce([]byte("\x00\x01\xff"), false, "send JSON text")
}

// TestBigEvents: the server refuses an event that is larger than its limit.
func TestBigEvents(t *testing.T) {
	t.Parallel()
	h := open(t, nil, func(c *server.Config) { c.MaxMessage = 1 << 20 })
	other := call(t, callOptions{url: h.url})
	big := []byte(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` +
		strings.Repeat("x", 1<<20) + `"}]}}`)
	strangeSocket(t, h).refusedOnce(big, true, "1048576 bytes")

	polite := strangePeer(t, h, http.DefaultClient)
	polite.Expect(polite.send(big, true)).NotTo(gomega.Succeed(), "the answer says how large a message may be")

	rude := strangePeer(t, h, &http.Client{Transport: boundless{}})
	rude.Expect(h.calls()).To(gomega.Equal(4))
	rude.Expect(rude.send(big, true)).To(gomega.Succeed())
	rude.Eventually(h.calls, patience).Should(gomega.Equal(3), "its call alone ends")
	other.voiceTurn("nothing happened to me")
}

// boundless removes the limit of message sizes from the server's SDP answer, so that the client sends larger messages.
type boundless struct{}

// RoundTrip implements http.RoundTripper.
func (boundless) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	text = bytes.Replace(text, []byte("a=max-message-size:262144"), []byte("a=max-message-size:16777216"), 1)
	answer.Body = io.NopCloser(bytes.NewReader(text))
	return answer, err
}
