package protocolcheck

// The events that no session of this server sends, each with its reason.

// Excluded says which events of the protocol no session of this server sends, and why. A coverage that contains one of them
// fails, and so does a coverage without any of the other events.
func Excluded() map[string]string {
	return map[string]string{
		"conversation.item.created": "the earlier name of conversation.item.added, which is sent",
	}
}
