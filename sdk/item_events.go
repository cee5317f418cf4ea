package sdk

// Server events about the conversation's items.

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// itemEvent handles an event about an item. It returns false for any other event.
func (s *Session) itemEvent(e *serverEvent) bool {
	switch e.kind {
	case "conversation.item.added":
		s.itemAdded(&e.item, e.previous)
	case "conversation.item.created":
		s.itemAdded(&e.item, e.previous)
		s.itemDone(&e.item, e.previous)
	case "conversation.item.done":
		s.itemDone(&e.item, e.previous)
	case "conversation.item.deleted":
		s.items.remove(e.itemID)
		s.dialog.dropTurn(e.itemID)
	case "conversation.item.retrieved":
		s.itemRetrieved(&e.item)
	case "conversation.item.truncated":
		s.itemTruncated(e.itemID, e.endMS)
	default:
		return false
	}
	s.dirty = true
	return true
}

// itemAdded gives an item its place in the transcript, and shows the words that it has.
func (s *Session) itemAdded(told *wire.Item, previous *string) {
	if told.ID == "" {
		s.trace("an item without an id was left out")
		return
	}
	it := s.items.open(told.ID, roleOf(told))
	s.items.place(it, previous)
	switch {
	case told.Type == wire.ItemMessage && told.Role != "system":
		s.fill(it, told)
		if told.Role == "user" && !it.entry.Spoken {
			s.items.settle(it)
		}
	case told.Type == wire.ItemFunctionCall:
		s.showCall(it, told)
	case told.Type == wire.ItemMCPCall:
		s.showServerCall(it, told, told.Output != "" || len(told.Error) > 0)
	case told.Type == wire.ItemFunctionCallOutput:
		it.hidden = true
		s.tools.taken(told.CallID)
		s.showOutput(told.CallID, told.Output, false)
	default:
		it.hidden = true
	}
	s.items.changed()
}

// itemDone settles an entry that nothing more will change. A spoken turn is settled later when the server transcribes it.
func (s *Session) itemDone(told *wire.Item, previous *string) {
	it := s.items.find(told.ID)
	if it == nil {
		return
	}
	s.items.place(it, previous)
	if it.entry.Role == User && !(it.entry.Spoken && s.server.session.transcribes) {
		s.items.settle(it)
	}
}

// roleOf returns whose item it is.
func roleOf(told *wire.Item) Role {
	switch {
	case told.Type == wire.ItemFunctionCall, told.Type == wire.ItemMCPCall:
		return ToolUse
	case told.Role == "assistant":
		return Agent
	}
	return User
}

// fill takes over the words of an item. An item without words changes nothing.
func (s *Session) fill(it *item, told *wire.Item) {
	if it.entry.Interrupted {
		return
	}
	words, spoken, known := wordsOf(told)
	it.entry.Spoken = it.entry.Spoken || spoken
	if known && words != "" {
		s.items.text(it, words)
	}
}

// wordsOf returns the words of a message. known is false when a part has sound but no transcript.
func wordsOf(told *wire.Item) (words string, spoken, known bool) {
	known = true
	var parts []string
	for i := range told.Content {
		switch c := &told.Content[i]; c.Type {
		case wire.ContentInputText, wire.ContentOutputText:
			parts = append(parts, c.Text)
		case wire.ContentInputAudio, wire.ContentOutputAudio:
			spoken = true
			if c.Transcript == nil {
				known = false
				continue
			}
			parts = append(parts, *c.Transcript)
		}
	}
	return joinParts(parts), spoken, known
}

// charsPerSecond is a common rate of English speech: 150 words a minute, 6 characters a word. It is used only where neither the
// server nor the client knows how much of a text was heard.
const charsPerSecond = 15

// itemTruncated notes that the server has cut a response at what the user heard, and asks the server for the words.
func (s *Session) itemTruncated(id string, heardMS int) {
	it := s.items.find(id)
	if it == nil {
		return
	}
	it.entry.Interrupted, it.entry.Spoken, it.entry.HeardMS = true, true, max(heardMS, 0)
	it.entry.Live = true
	it.asked = s.clock.Now()
	s.items.changed()
	s.send("conversation.item.retrieve", newJSON().Key("item_id").Text(id), intent{kind: intentRetrieve, item: id})
}

// itemRetrieved shows the words of an interrupted response that the user heard.
func (s *Session) itemRetrieved(told *wire.Item) {
	it := s.items.find(told.ID)
	if it == nil || it.asked == Never {
		return
	}
	words, _, known := wordsOf(told)
	if !known || len(told.Content) == 0 && it.entry.HeardMS > 0 {
		s.cutByEstimate(it)
		return
	}
	s.heardWords(it, words, "")
}

// cutByEstimate cuts the text of an interrupted response in proportion to the time heard, for servers that do not say which words
// were heard.
func (s *Session) cutByEstimate(it *item) {
	heard := time.Duration(it.entry.HeardMS) * time.Millisecond
	all := it.sound
	if all <= 0 {
		all = time.Duration(len(it.entry.Text)) * time.Second / charsPerSecond
	}
	if all <= 0 || heard <= 0 {
		s.heardWords(it, "", "")
		return
	}
	s.heardWords(it, cutWords(it.entry.Text, float64(heard)/float64(all)), "cut by estimate")
}

// heardWords shows these words as what the user heard of an interrupted response.
func (s *Session) heardWords(it *item, words, note string) {
	it.asked = Never
	s.items.text(it, words)
	s.items.note(it, note, false)
	s.items.settle(it)
	s.dirty = true
}
