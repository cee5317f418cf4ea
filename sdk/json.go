package sdk

// This file writes the JSON that several client events have in common.

import "github.com/antiphon-rt/antiphon/wire"

// newMessage begins the item of a message and leaves its content list open.
func newMessage(id, role string) *wire.Writer {
	return newJSON().Key("item").Object().Key("id").Text(id).Key("object").Text("realtime.item").Key("type").Text(wire.ItemMessage).
		Key("role").Text(role).Key("content").List()
}

// writeText writes one text part of a message.
func writeText(w *wire.Writer, kind, text string) *wire.Writer {
	return w.Object().Key("type").Text(kind).Key("text").Text(text).EndObject()
}

func newJSON() *wire.Writer { return new(wire.Writer) }

// jsonObject reports whether text is one JSON object.
func jsonObject(text []byte) bool {
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == '{' && wire.Raw(text).Valid()
		}
	}
	return false
}
