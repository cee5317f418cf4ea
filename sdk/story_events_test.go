package sdk

// The short form of protocol events in the stories of testdata: how a line becomes a server event, and a client event a line.

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/wire"
)

// eventText makes the JSON of a server event from a line such as: response.created response=r1 status=completed.
func eventText(line string) ([]byte, error) {
	fields := strings.Fields(line)
	e := map[string]any{"type": fields[0], "event_id": "e"}
	rest := strings.TrimSpace(strings.TrimPrefix(line, fields[0]))
	for rest != "" {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, errors.New("no value in " + rest)
		}
		var v any
		d := json.NewDecoder(strings.NewReader(after))
		if err := d.Decode(&v); err == nil && !strings.HasPrefix(after, "null-") {
			rest = strings.TrimSpace(after[d.InputOffset():])
		} else {
			var value string
			value, rest, _ = strings.Cut(after, " ")
			v, rest = value, strings.TrimSpace(rest)
		}
		expand(e, key, v)
	}
	for _, key := range []string{"content_index", "output_index", "audio_start_ms", "audio_end_ms"} {
		if _, ok := e[key]; !ok {
			e[key] = 0
		}
	}
	return json.Marshal(e)
}

// expand spells out the short forms: item=user:u1, item=agent:a1, item=call:c1, response=r1:completed, response=r1:cancelled:a1:reason, error=code.
func expand(e map[string]any, key string, v any) {
	text, ok := v.(string)
	if !ok {
		e[key] = v
		return
	}
	parts := strings.Split(text, ":")
	part := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	switch key {
	case "item":
		e[key] = expandItem(part)
	case "response":
		r := map[string]any{"id": part(0), "object": "realtime.response", "status": part(1), "conversation_id": "c", "output": []any{}}
		if part(1) == "" {
			r["status"] = "in_progress"
		}
		if part(1) == "cancelled" && part(2) != "" {
			r["output"] = []any{map[string]any{"id": part(2), "type": "message", "role": "assistant", "status": "incomplete", "content": []any{}}}
		}
		if part(3) != "" {
			r["status_details"] = map[string]any{"type": "cancelled", "reason": part(3)}
		}
		if part(1) == "failed" {
			r["status_details"] = map[string]any{"type": "failed", "error": map[string]any{"type": "server_error", "code": part(2)}}
		}
		e[key] = r
	case "error":
		if strings.HasPrefix(e["type"].(string), "conversation.") {
			e[key] = map[string]any{"type": "transcription_error", "code": part(0), "message": part(1)}
			return
		}
		in := map[string]any{"type": "invalid_request_error", "code": part(0), "message": part(1)}
		if part(2) != "" {
			in["event_id"] = part(2)
		}
		e[key] = in
	case "message": // of a run: run:seq:type:data, where data is JSON
		fields := strings.SplitN(text, ":", 4)
		seq, err := strconv.Atoi(fields[1])
		if err != nil {
			panic(err)
		}
		e["run_id"], e["tool"] = fields[0], "book"
		e[key] = map[string]any{
			"protocol_version": "fcmp/1.0", "run_id": fields[0], "seq": seq, "ts": "12:00:0" + fields[1], "type": fields[2],
			"data": json.RawMessage(fields[3]), "meta": map[string]any{"attempt": 1},
		}
	case "part":
		e[key] = map[string]any{"type": text}
	default:
		e[key] = v
	}
}

func expandItem(part func(int) string) map[string]any {
	it := map[string]any{"id": part(1), "object": "realtime.item", "type": "message", "status": "completed"}
	content := func(kind, key string, v any) { it["content"] = []any{map[string]any{"type": kind, key: v}} }
	switch part(0) {
	case "user":
		it["role"] = "user"
		content("input_audio", "transcript", nil)
	case "written":
		it["role"] = "user"
		content("input_text", "text", part(2))
	case "agent":
		it["role"], it["content"], it["status"] = "assistant", []any{}, "in_progress"
	case "said", "cut", "untold":
		it["role"] = "assistant"
		content("output_audio", "transcript", part(2))
		if part(0) == "cut" {
			it["status"] = "incomplete"
		}
		if part(0) == "untold" {
			content("output_audio", "transcript", nil)
		}
	case "system":
		it["role"], it["content"] = "system", []any{}
	case "calling", "call":
		it["type"], it["name"], it["call_id"], it["arguments"] = "function_call", part(2), part(3), part(4)
		if part(0) == "calling" {
			it["status"], it["arguments"] = "in_progress", ""
		}
	case "mcp", "mcp-done", "mcp-failed":
		it["type"], it["server_label"], it["name"], it["arguments"] = "mcp_call", "antiphon", part(2), part(3)
		it["output"], it["error"] = nil, nil
		switch part(0) {
		case "mcp-done":
			it["output"] = part(4)
		case "mcp-failed":
			it["error"] = map[string]any{"type": "tool_execution_error", "message": part(4)}
		}
	case "output":
		it["type"], it["call_id"], it["output"] = "function_call_output", part(2), part(3)
	}
	return it
}

// sentText describes a client event in one line: its id, its type and its members.
func sentText(message []byte) string {
	if meant, err := wire.DecodeClient(message); err != nil {
		return "REFUSED: " + err.Error()
	} else if said := wire.AppendClient(nil, meant); string(said) != string(message) {
		return "SPELLED OTHERWISE: " + string(message) + "\nTHAN " + string(said)
	}
	var e map[string]any
	if err := json.Unmarshal(message, &e); err != nil {
		return "NO JSON: " + string(message)
	}
	id, kind := e["event_id"], e["type"]
	delete(e, "event_id")
	delete(e, "type")
	delete(e, "machines") // their fingerprints change with them
	keys := make([]string, 0, len(e))
	for k := range e {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	said := fmt.Sprintf("%v %v", id, kind)
	for _, k := range keys {
		v, _ := json.Marshal(e[k])
		said += " " + k + "=" + string(v)
	}
	return said
}
