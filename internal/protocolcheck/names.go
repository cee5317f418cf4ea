package protocolcheck

// The rule for identifiers: everything that an event names has an id, and the id is known.

import "strings"

// names checks the ids in an event. A client may give items any id; all other ids come from the server.
func (s *session) names(e *event) {
	ours := func(what, prefix, id string) {
		if len(id) < len(prefix)+8 || !strings.HasPrefix(id, prefix) {
			s.broken("RealIDs", "%s of %s is %q: want %s…", what, e.Type, id, prefix)
		}
	}
	ours("event_id", "event_", e.EventID)
	switch {
	case strings.HasPrefix(e.Type, "session."):
		ours("session.id", "sess_", e.Session.ID)
	case e.Type == "response.created", e.Type == "response.done":
		ours("response.id", "resp_", e.Response.ID)
		if id := e.Response.ConversationID; id != nil {
			ours("response.conversation_id", "conv_", *id)
		}
	case e.Type == "response.output_item.added", e.Type == "response.output_item.done":
		ours("response_id", "resp_", e.ResponseID)
		ours("item.id", "item_", e.Item.ID)
		if e.Item.Type == "function_call" {
			ours("item.call_id", "call_", e.Item.CallID)
		}
	case strings.HasPrefix(e.Type, "response.mcp_call."): // they name no response
		ours("item_id", "item_", e.ItemID)
	case strings.HasPrefix(e.Type, "response."):
		ours("response_id", "resp_", e.ResponseID)
		ours("item_id", "item_", e.ItemID)
		if strings.HasPrefix(e.Type, "response.function_call_arguments.") {
			ours("call_id", "call_", e.CallID)
		}
	case strings.HasPrefix(e.Type, "output_audio_buffer."):
		ours("response_id", "resp_", e.ResponseID)
	case strings.HasPrefix(e.Type, "input_audio_buffer.") && e.Type != "input_audio_buffer.cleared" && e.Type != "input_audio_buffer.dtmf_event_received":
		ours("item_id", "item_", e.ItemID)
	case strings.HasPrefix(e.Type, "conversation.item.") && e.ItemID+e.Item.ID == "":
		s.broken("RealIDs", "%s names no item", e.Type)
	}
}
