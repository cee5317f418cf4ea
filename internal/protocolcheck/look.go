package protocolcheck

// Compares one event with the table of the protocol: every required field is there and has the right type.

import (
	"bytes"
	"encoding/json"
	"strings"
)

// client counts one message of the client, which may be any text.
func (s *session) client(text json.RawMessage) {
	s.asked[nameOf(text)] = true
	var e struct {
		Type       string `json:"type"`
		ItemID     string `json:"item_id"`
		AudioEndMS int    `json:"audio_end_ms"`
		BargeIn    bool   `json:"barge_in"`
		Response   struct {
			Metadata json.RawMessage `json:"metadata"`
		} `json:"response"`
	}
	_ = json.Unmarshal(text, &e) // a text that is no event has no fields
	switch e.Type {
	case "response.create":
		s.wishes[compact(e.Response.Metadata)] = true
	case "conversation.item.truncate":
		s.cuts[e.ItemID] = e.AudioEndMS
	case "output_audio_buffer.clear":
		s.clearing = true
		if s.playback.playing != "" {
			s.clears++
		}
	case "antiphon.hello":
		s.playback.predicted = s.playback.predicted || e.BargeIn
	}
	s.look(false, e.Type, text)
}

// complete checks that a server event has every field that its clients need.
func (s *session) complete(e *event, text json.RawMessage) {
	if !s.look(true, e.Type, text) && !strings.HasPrefix(e.Type, "antiphon.") {
		s.broken("RequiredFields", "the protocol has no event %s", e.Type)
	}
	s.names(e)
}

// look counts an event and its fields, and checks the fields of a server event. It reports whether the protocol has the event.
func (s *session) look(server bool, typ string, text json.RawMessage) bool {
	k := key(server, typ)
	row, known := rules.events[k]
	if !known {
		return false
	}
	s.report.events[k]++
	w := walk{
		t: rules, lax: !server,
		saw: func(field string) { s.report.fields[field]++ },
		wrong: func(format string, args ...any) {
			if server {
				s.broken("RequiredFields", "%s: "+format, append([]any{typ}, args...)...)
			}
		},
	}
	w.object(k, row.Fields, text)
	return true
}

// compact returns a JSON value without blanks; "" for null and for an empty text.
func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil || b.String() == "null" {
		return ""
	}
	return b.String()
}
