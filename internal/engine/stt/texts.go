package stt

// The text of an utterance over a WebSocket: of one item, or of several if the server has cut the utterance itself.

import "strings"

// texts is what a server has said of one utterance.
type texts struct {
	order     []string         // the items, in the order in which the server named them
	items     map[string]*part // of those
	committed bool             // we have ended the audio
	confirmed bool             // the server has said that it knows
	confirms  bool             // the server confirms commits
}

// part is the text of an item.
type part struct {
	text string
	done bool
}

// maxItems limits the items of one utterance.
const maxItems = 1000

func newTexts() *texts { return &texts{items: map[string]*part{}} }

// item returns an item, which it makes if there is none. An item beyond the limit is not kept.
func (t *texts) item(id string) *part {
	p := t.items[id]
	if p == nil {
		p = &part{}
		if len(t.order) < maxItems {
			t.order = append(t.order, id)
			t.items[id] = p
		}
	}
	return p
}

// take takes an event, and reports whether the text has changed.
func (t *texts) take(e *said) bool {
	switch e.Type {
	case "input_audio_buffer.committed":
		t.item(e.Item)
		t.confirmed, t.confirms = t.committed, true
	case "conversation.item.input_audio_transcription.delta":
		t.item(e.Item).text += e.Delta
		return e.Delta != ""
	case "conversation.item.input_audio_transcription.completed":
		*t.item(e.Item) = part{e.Transcript, true}
		return true
	case "transcription.delta":
		t.item("").text += e.Delta
		return e.Delta != ""
	case "transcription.done":
		p := t.item("")
		p.done = true
		if e.Text != "" {
			p.text = e.Text
		}
		return true
	}
	return false
}

// commit notes that we end the audio.
func (t *texts) commit() { t.committed = true }

// nothing notes that the server has no more audio than in the items that it has named.
func (t *texts) nothing() { t.confirmed = t.committed }

// complete reports whether the text is whole: the server knows the end of the audio, and has the text of every item.
func (t *texts) complete() bool {
	if !t.committed || !t.confirmed && (t.confirms || len(t.order) == 0) {
		return false
	}
	for _, id := range t.order {
		if !t.items[id].done {
			return false
		}
	}
	return true
}

func (t *texts) size() (n int) {
	for _, p := range t.items {
		n += len(p.text)
	}
	return n
}

func (t *texts) whole() string {
	all := make([]string, 0, len(t.order))
	for _, id := range t.order {
		all = append(all, t.items[id].text)
	}
	return Spoken(strings.Join(all, " "))
}
