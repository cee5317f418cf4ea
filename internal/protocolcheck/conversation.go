package protocolcheck

// The rules for user turns and conversation items.

import (
	"slices"
	"strings"
)

// turn is the state of the user's turn, according to the events.
type turn struct {
	speaking  string // the item of a turn whose speech has started and not stopped
	stopped   string // the item of a turn whose speech has stopped and that is not committed
	committed string // the item of a turn that is committed and whose item is not added
	previous  *string
	startMS   int
	startLine int  // the line of the last speech_started
	dropped   bool // the client has cleared the buffer or switched the detector off: the speech stops and becomes no item
}

func (s *session) ofInput(e *event) {
	t := &s.turn
	switch e.Type {
	case "input_audio_buffer.speech_started":
		if t.speaking != "" || e.ItemID == "" {
			s.broken("OneItemPerTurn", "speech_started of item %q while %q is spoken", e.ItemID, t.speaking)
		}
		t.speaking, t.stopped, t.startMS, t.startLine, t.dropped = e.ItemID, "", e.AudioStartMS, s.line, false
	case "input_audio_buffer.speech_stopped":
		if t.speaking != e.ItemID || e.AudioEndMS < t.startMS {
			s.broken("OneItemPerTurn", "speech_stopped of item %q at %d ms, speech_started was of %q at %d ms", e.ItemID, e.AudioEndMS, t.speaking, t.startMS)
		}
		t.speaking, t.stopped = "", e.ItemID
		if t.dropped {
			t.stopped = ""
		}
	case "input_audio_buffer.cleared":
		t.stopped, t.dropped = "", true
	case "input_audio_buffer.committed":
		if t.speaking != "" || t.stopped != "" && t.stopped != e.ItemID {
			s.broken("OneItemPerTurn", "committed is item %q, spoken was %q", e.ItemID, t.speaking+t.stopped)
		}
		t.stopped, t.committed, t.previous = "", e.ItemID, e.PreviousItemID
	}
}

func (s *session) ofItem(e *event) {
	switch e.Type {
	case "conversation.item.added":
		s.itemAdded(e)
	case "conversation.item.done":
		if done, known := s.items[e.Item.ID]; !known || done {
			s.broken("EveryAddedIsDone", "conversation.item.done of item %q, which is not open", e.Item.ID)
		}
		s.items[e.Item.ID] = true
		if at := slices.Index(s.conversation, e.Item.ID); at >= 0 {
			s.follows(e, at)
		}
	case "conversation.item.deleted":
		if at := slices.Index(s.conversation, e.ItemID); at >= 0 {
			s.conversation = slices.Delete(s.conversation, at, at+1)
			s.items[e.ItemID] = true // an item in progress will not be done any more
		} else {
			s.broken("KnownPreviousItem", "item %q is deleted and was not there", e.ItemID)
		}
	case "conversation.item.truncated":
		s.truncated(e)
	default: // transcription and retrieval may come at any time, but only for a known item
		id := e.ItemID + e.Item.ID
		s.transcript(e)
		if _, known := s.items[id]; !known && id != s.turn.speaking && id != s.turn.stopped && id != s.turn.committed {
			s.broken("OneItemPerTurn", "%s of item %q, which nobody knows", e.Type, id)
		}
	}
}

func (s *session) itemAdded(e *event) {
	id := e.Item.ID
	// A client corrects an item by deleting it and creating it again.
	if slices.Contains(s.conversation, id) || id == "" {
		s.broken("KnownPreviousItem", "item %q is added twice, or has no id", id)
		return
	}
	s.items[id] = false
	delete(s.transcripts, id)
	if c := s.turn.committed; c != "" {
		s.turn.committed = ""
		if id != c || e.Item.Role != "user" || !same(e.PreviousItemID, s.turn.previous) {
			s.broken("OneItemPerTurn", "item %q follows the commit of %q", id, c)
		}
	}
	at := 0
	if p := e.PreviousItemID; p != nil {
		at = slices.Index(s.conversation, *p) + 1
		if at == 0 {
			s.broken("KnownPreviousItem", "item %s comes after %q, which is not there", id, *p)
			at = len(s.conversation)
		}
	}
	s.conversation = slices.Insert(s.conversation, at, id)
}

// follows checks that the item at an index names the item before it.
func (s *session) follows(e *event, at int) {
	var before *string
	if at > 0 {
		before = &s.conversation[at-1]
	}
	if !same(before, e.PreviousItemID) {
		s.broken("KnownPreviousItem", "%s of item %s says that it comes after %s, and not %s", e.Type, e.Item.ID, show(e.PreviousItemID), show(before))
	}
}

func same(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func show(s *string) string {
	if s == nil {
		return "nothing"
	}
	return *s
}

// transcript checks that a transcription ends once, and that none of its events come after that.
func (s *session) transcript(e *event) {
	rest, is := strings.CutPrefix(e.Type, "conversation.item.input_audio_transcription.")
	if !is {
		return
	}
	if s.transcripts[e.ItemID] {
		s.broken("OneTranscriptPerTurn", "%s of item %s, whose transcription is over", e.Type, e.ItemID)
	}
	if rest == "completed" || rest == "failed" {
		s.transcripts[e.ItemID] = true
	}
}
