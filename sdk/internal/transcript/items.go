package transcript

// What the server says about the conversation's items.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/words"
	"github.com/antiphon-rt/antiphon/wire"
)

// Added gives an item its place, and shows the words that it has. The item must have an id.
func (t *Transcript) Added(told *wire.Item, previous *string) *Item {
	it := t.Open(told.ID, roleOf(told))
	t.Place(it, previous)
	switch {
	case told.Type == wire.ItemMessage && told.Role != "system":
		t.fill(it, told)
		if told.Role == "user" && !it.Spoken {
			t.Settle(it)
		}
	case told.Type == wire.ItemFunctionCall:
		t.showCall(it, told)
	case told.Type == wire.ItemMCPCall:
		t.showServerCall(it, told, told.Output != "" || len(told.Error) > 0)
	case told.Type == wire.ItemFunctionCallOutput:
		it.Hidden = true
		t.ShowOutput(told.CallID, told.Output, false)
	default:
		it.Hidden = true
	}
	t.Changed = true
	return it
}

// Done settles an item that nothing more will change. transcribes says that the server transcribes every spoken turn: such a turn is
// settled later.
func (t *Transcript) Done(told *wire.Item, previous *string, transcribes bool) {
	it := t.byID[told.ID]
	if it == nil {
		return
	}
	t.Place(it, previous)
	if it.Role == User && !(it.Spoken && transcribes) {
		t.Settle(it)
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

// OutputAdded shows an item of a response.
func (t *Transcript) OutputAdded(told wire.Item, response string) *Item {
	if told.Type == wire.ItemMessage {
		told.Role = "assistant"
	}
	it := t.Added(&told, nil)
	it.Response = response
	return it
}

// OutputDone takes over the final state of an item of a response. The item must have an id.
func (t *Transcript) OutputDone(told *wire.Item, response string) {
	it := t.byID[told.ID]
	if it == nil {
		it = t.OutputAdded(*told, response)
	}
	switch told.Type {
	case wire.ItemMessage:
		t.fill(it, told)
		if it.Asked != deadline.Never {
			return
		}
	case wire.ItemFunctionCall:
		t.showCall(it, told)
	case wire.ItemMCPCall:
		t.showServerCall(it, told, true)
	default:
		return
	}
	t.Settle(it)
}

// Sounded notes sound of an item that the client got itself.
func (t *Transcript) Sounded(id string, length time.Duration) {
	it := t.Open(id, Agent)
	t.Changed = t.Changed || !it.Spoken
	it.Spoken, it.sound = true, max(it.sound, 0)+length
}

// fill takes over the words of an item. An item without words changes nothing.
func (t *Transcript) fill(it *Item, told *wire.Item) {
	if it.Interrupted {
		return
	}
	text, spoken, known := wordsOf(told)
	it.Spoken = it.Spoken || spoken
	if known && text != "" {
		t.SetText(it, text)
	}
}

// wordsOf returns the words of a message. known is false when a part has sound but no transcript.
func wordsOf(told *wire.Item) (text string, spoken, known bool) {
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
	return words.Join(parts), spoken, known
}

// Interrupted marks the items that a cancelled response has left incomplete.
func (t *Transcript) Interrupted(output []wire.Item) {
	for i := range output {
		it := t.byID[output[i].ID]
		if it != nil && output[i].Status == "incomplete" && it.Role == Agent {
			it.Interrupted, t.Changed = true, true
		}
	}
}

// charsPerSecond is a common rate of English speech: 150 words a minute, 6 characters a word. It is used only where neither the
// server nor the client knows how much of a text was heard.
const charsPerSecond = 15

// Truncated notes that the server has cut a response at what the user heard. It returns true if the caller must ask the server for
// the item's words.
func (t *Transcript) Truncated(id string, heardMS int, now time.Duration) (ask bool) {
	it := t.byID[id]
	if it == nil {
		return false
	}
	it.Interrupted, it.Spoken, it.HeardMS, it.Live, it.Asked = true, true, max(heardMS, 0), true, now
	t.Changed = true
	return true
}

// Retrieved shows the words of an interrupted response that the user heard, if they were asked for.
func (t *Transcript) Retrieved(told *wire.Item) {
	it := t.byID[told.ID]
	if it == nil || it.Asked == deadline.Never {
		return
	}
	text, _, known := wordsOf(told)
	if !known || len(told.Content) == 0 && it.HeardMS > 0 {
		t.estimate(it)
		return
	}
	t.heard(it, text, "")
}

// Refused notes that the server does not say which words of an item were heard.
func (t *Transcript) Refused(id string) {
	if it := t.byID[id]; it != nil && it.Asked != deadline.Never {
		t.estimate(it)
	}
}

// Deadline returns when the first question for words is given up, with limit for each; deadline.Never when none is open.
func (t *Transcript) Deadline(limit time.Duration) time.Duration {
	next := deadline.Never
	for _, it := range t.Items {
		if it.Asked != deadline.Never {
			next = deadline.First(next, it.Asked+limit)
		}
	}
	return next
}

// TimedOut gives up the questions for words that were asked at or before since. It returns whether there were any.
func (t *Transcript) TimedOut(since time.Duration) (any bool) {
	for _, it := range t.Items {
		if deadline.Passed(it.Asked, since) {
			t.estimate(it)
			any = true
		}
	}
	return any
}

// estimate cuts the text of an interrupted response in proportion to the time heard, for servers that do not say which words
// were heard.
func (t *Transcript) estimate(it *Item) {
	heard := time.Duration(it.HeardMS) * time.Millisecond
	all := it.sound
	if all <= 0 {
		all = time.Duration(len(it.Text)) * time.Second / charsPerSecond
	}
	if all <= 0 || heard <= 0 {
		t.heard(it, "", "")
		return
	}
	t.heard(it, words.Cut(it.Text, float64(heard)/float64(all)), "cut by estimate")
}

// heard shows these words as what the user heard of an interrupted response.
func (t *Transcript) heard(it *Item, text, note string) {
	it.Asked, it.heard = deadline.Never, -1
	t.SetText(it, text)
	t.Annotate(it, note, false)
	t.Settle(it)
}

// showCall shows a tool call of the agent.
func (t *Transcript) showCall(it *Item, told *wire.Item) {
	shown := Call{ID: told.CallID, Name: told.Name, Arguments: words.CutBytes(told.Arguments, t.mostBytes)}
	if old := it.Call; old != nil && old.ID == told.CallID {
		shown.Output, shown.Done, shown.Failed = old.Output, old.Done, old.Failed
	}
	it.Role, it.Call, t.Changed = ToolUse, &shown, true
}

// showServerCall shows a call of a tool that the server runs. done says that the tool has ended. The call has the id of its item.
func (t *Transcript) showServerCall(it *Item, told *wire.Item, done bool) {
	output, failed := told.Output, len(told.Error) > 0
	if failed {
		output = string(told.Error)
	}
	it.Role, t.Changed = ToolUse, true
	it.Call = &Call{
		ID: told.ID, Name: told.Name, Arguments: words.CutBytes(told.Arguments, t.mostBytes),
		Output: words.CutBytes(output, t.mostBytes), Done: done, Failed: failed,
	}
}

// ShowOutput shows the first known result of a call.
func (t *Transcript) ShowOutput(callID, output string, failed bool) {
	for i := len(t.Items) - 1; i >= 0; i-- {
		it := t.Items[i]
		if it.Call == nil || it.Call.ID != callID {
			continue
		}
		if !it.Call.Done {
			shown := *it.Call
			shown.Output, shown.Done, shown.Failed = words.CutBytes(output, t.mostBytes), true, failed
			it.Call, t.Changed = &shown, true
		}
		return
	}
}
