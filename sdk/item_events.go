package sdk

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// itemEvent takes what is about the conversation's items. It reports whether e was.
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

// itemAdded gives an item its place, and shows what a person can read of it.
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
	case told.Type == wire.ItemFunctionCallOutput:
		it.hidden = true
		s.tools.taken(told.CallID)
		s.showOutput(told.CallID, told.Output, false)
	default:
		it.hidden = true
	}
	s.items.changed()
}

// itemDone settles what waits for nothing more. A spoken turn waits for its words where they are promised.
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

func roleOf(told *wire.Item) Role {
	switch {
	case told.Type == wire.ItemFunctionCall:
		return ToolUse
	case told.Role == "assistant":
		return Agent
	}
	return User
}

// fill takes over the words that an item brings along. An item without words leaves what is known.
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

// wordsOf gives the words of a message. known is false when a part has sound whose words are not told.
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

// charsPerSecond is a common rate of English speech (150 words a minute, 6 characters a word). It is used only where
// neither the server nor the client knows how much of a text was heard.
const charsPerSecond = 15

// itemTruncated: a reply was cut at what was heard. The words are the server's to say.
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

// itemRetrieved shows an interrupted reply as far as it was heard.
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

// cutByEstimate is for servers that do not say which words were heard.
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

func (s *Session) heardWords(it *item, words, note string) {
	it.asked = Never
	s.items.text(it, words)
	s.items.note(it, note, false)
	s.items.settle(it)
	s.dirty = true
}
