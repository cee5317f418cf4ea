package e2e

// Bad input: offers and events that the server refuses with a clear error.

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestBadOffers: a bad SDP offer gets an error that says what a good offer has. Other calls are not affected.
func TestBadOffers(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	other := call(t, callOptions{url: h.url})
	for name, bad := range map[string]struct {
		kind, body string
		status     int
		says       []string
	}{
		"broken SDP":           {"application/sdp", "v=0\r\no=broken", 400, []string{"invalid_offer", "RTCSessionDescription.sdp unchanged"}},
		"nothing":              {"application/sdp", "", 400, []string{"invalid_offer", "it is empty"}},
		"JSON":                 {"application/sdp", `{"type":"offer","sdp":"v=0"}`, 400, []string{"invalid_offer", "send the text of its member sdp"}},
		"SDP without audio":    {"application/sdp", silentOffer, 400, []string{"invalid_offer", "add a microphone track"}},
		"too much":             {"application/sdp", strings.Repeat("a=x\r\n", 1<<18), 413, []string{"body_too_large"}},
		"another type":         {"text/plain", "v=0", 415, []string{"unsupported_media_type", "application/sdp"}},
		"a form without offer": {"multipart/form-data; boundary=b", "--b--\r\n", 400, []string{"missing_field", "sdp"}},
	} {
		r, err := http.Post(h.url+"/v1/realtime/calls", bad.kind, strings.NewReader(bad.body))
		other.Expect(err).NotTo(gomega.HaveOccurred(), name)
		body, err := io.ReadAll(r.Body)
		other.Expect(err).NotTo(gomega.HaveOccurred(), name)
		other.Expect(r.Body.Close()).To(gomega.Succeed())
		other.Expect(r.StatusCode).To(gomega.Equal(bad.status), "%s: %s", name, body)
		for _, words := range bad.says {
			other.Expect(string(body)).To(gomega.ContainSubstring(words), name)
		}
		other.Eventually(h.calls, patience).Should(gomega.Equal(1), name)
	}
	other.voiceTurn("nothing happened to me")
}

// silentOffer is an offer with a data channel and no audio.
const silentOffer = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n" +
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\n" +
	"a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n" +
	"a=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\r\n"

// badEvent is an event that the server refuses, with the code and param of the error, and words of its message that say what to do.
type badEvent struct {
	name, text        string
	code, param, says string
	noID              bool // its event_id cannot be read
}

func badEvents() []badEvent {
	return []badEvent{
		{name: "malformed JSON", text: `{"type":"response.create","event_id":"bad"`, code: "invalid_json"},
		{name: "no JSON", text: `hello?`, code: "invalid_json", noID: true},
		{name: "too deep", text: `{"type":"session.update","event_id":"bad","session":` + strings.Repeat("[", 10_000), code: "invalid_json"},
		{name: "no type", text: `{"event_id":"bad"}`, code: "missing_field", param: "type"},
		{name: "unknown event", text: `{"type":"session.dance","event_id":"bad"}`, code: "unknown_event", param: "type", says: "session.dance"},
		{name: "a server's event", text: `{"type":"response.done","event_id":"bad"}`, code: "unknown_event", param: "type"},
		{name: "wrong type", text: `{"type":"conversation.item.truncate","event_id":"bad","item_id":"x","content_index":0,"audio_end_ms":"soon"}`, code: "invalid_type", param: "audio_end_ms"},
		{name: "unknown item: delete", text: `{"type":"conversation.item.delete","event_id":"bad","item_id":"nobody"}`, code: "item_delete_invalid_item_id", param: "item_id", says: "nobody"},
		{name: "unknown item: retrieve", text: `{"type":"conversation.item.retrieve","event_id":"bad","item_id":"nobody"}`, code: "item_retrieve_invalid_item_id", param: "item_id", says: "nobody"},
		{name: "unknown item: truncate", text: `{"type":"conversation.item.truncate","event_id":"bad","item_id":"nobody","content_index":0,"audio_end_ms":1}`, code: "item_truncate_invalid_item_id", param: "item_id", says: "nobody"},
		{name: "unknown item: before", text: `{"type":"conversation.item.create","event_id":"bad","previous_item_id":"nobody","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`, code: "item_create_invalid_previous_item_id", param: "previous_item_id", says: "root"},
		{name: "unknown item: input", text: `{"type":"response.create","event_id":"bad","response":{"input":[{"type":"item_reference","id":"nobody"}]}}`, code: "item_not_found", param: "response.input[0].id", says: "nobody"},
		{name: "wrong sample rate", text: `{"type":"session.update","event_id":"bad","session":{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcm","rate":16000}}}}}`, code: "invalid_value", param: "session.audio.input.format.rate", says: "24000"},
		{name: "threshold", text: `{"type":"session.update","event_id":"bad","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","threshold":7}}}}}`, code: "invalid_value", param: "session.audio.input.turn_detection.threshold"},
		{name: "odd audio", text: `{"type":"input_audio_buffer.append","event_id":"bad","audio":"AAAA"}`, code: "invalid_value", param: "audio", says: "2 bytes a sample"},
		{name: "no audio", text: `{"type":"input_audio_buffer.append","event_id":"bad","audio":"!!"}`, code: "invalid_value", param: "audio", says: "base64"},
		{name: "empty commit", text: `{"type":"input_audio_buffer.commit","event_id":"bad"}`, code: "input_audio_buffer_commit_empty", says: "buffer too small"},
		{name: "nothing to cancel", text: `{"type":"response.cancel","event_id":"bad"}`, code: "response_cancel_not_active", says: "Cancellation failed"},
	}
}

// TestBadEvents: each bad event gets an error with its event_id. This session and all others go on.
func TestBadEvents(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"data channel": false, "WebSocket": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			other := call(t, callOptions{url: h.url})
			other.ask("say 20 words")
			c := call(t, callOptions{url: h.url, webSocket: webSocket, sdk: sdk.Options{
				TurnDetection: &sdk.TurnDetection{Manual: true}, NoMicrophone: true,
			}})
			for _, bad := range badEvents() {
				c.sendText([]byte(bad.text))
				c.refused(bad)
			}
			c.alive()
			other.answer(twenty)
			other.voiceTurn("nothing happened to me")
		})
	}
}

// refused sends a bad event and checks the error.
func (c *caller) refused(bad badEvent) {
	e := nextOf[*wire.ErrorEvent](c).Error
	c.Expect(e.Code).To(gomega.Equal(bad.code), "%s: %+v", bad.name, e)
	c.Expect(e.Type).To(gomega.Equal("invalid_request_error"), bad.name)
	c.Expect(e.Message).To(gomega.ContainSubstring(bad.says), bad.name)
	c.Expect(len(e.Message)).To(gomega.BeNumerically(">", 10), bad.name)
	if bad.param != "" {
		c.Expect(e.Param).To(gomega.HaveValue(gomega.Equal(bad.param)), bad.name)
	}
	if bad.noID {
		return
	}
	c.Expect(e.EventID).To(gomega.HaveValue(gomega.Equal("bad")), bad.name)
}

// alive checks that the session answers a message in text.
func (c *caller) alive() {
	c.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "alive?"}},
	}})
	c.send(&wire.ResponseCreate{Response: wire.ResponseParams{OutputModalities: []string{"text"}}})
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(done.Response.Status).To(gomega.Equal("completed"))
	c.Expect(done.Response.Output[0].Content[0].Text).To(gomega.Equal("You said: alive?"))
}

// TestBadMoments: events that are refused because of their time alone.
func TestBadMoments(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url})
	c.ask("a reply to cut")
	reply := c.answer("You said: a reply to cut").Response.Output[0]
	length := len("You said: a reply to cut") * 60

	c.send(&wire.ConversationItemTruncate{EventID: "bad", ItemID: reply.ID, AudioEndMS: length + 100})
	c.refused(badEvent{name: "truncate beyond the end", code: "invalid_value", param: "audio_end_ms", says: fmt.Sprintf("%dms is already shorter", length)})
	c.send(&wire.ConversationItemTruncate{EventID: "bad", ItemID: reply.ID, ContentIndex: 1, AudioEndMS: 1})
	c.refused(badEvent{name: "truncate another part", code: "invalid_value", param: "content_index"})
	c.send(&wire.ConversationItemTruncate{ItemID: reply.ID, AudioEndMS: 600})
	c.next("conversation.item.truncated")
	c.Expect(*nextOf[*wire.ConversationItemRetrieved](c).Item.Content[0].Transcript).To(gomega.Equal("You said:"))

	c.ask("say 20 words")
	c.begin()
	c.hear(300 * time.Millisecond)
	c.send(&wire.ResponseCreate{EventID: "bad"})
	c.refused(badEvent{name: "second response", code: "conversation_already_has_active_response", says: "response.cancel"})
	c.send(&wire.ConversationItemCreate{EventID: "bad", Item: wire.Item{
		ID: reply.ID, Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "x"}},
	}})
	c.refused(badEvent{name: "an id twice", code: "item_already_exists", param: "item.id"})
	c.answer(twenty)
}
