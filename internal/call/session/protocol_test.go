package session

// A checker of the protocol's sequences: it reads all events that a session has sent.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/wire"
)

// protocol checks that the events of a session keep the protocol's rules about sequences, which clients rely on.
type protocol struct {
	wrong     []string
	ids       map[string]bool // the ids of the events so far
	began     bool
	items     map[string]bool // known items; true once they are done
	names     []string        // the ids of the items, in the order in which they came
	live      string          // the response in progress
	outOfBand map[string]bool // the out-of-band responses in progress
	ended     map[string]bool // responses that have ended
	outputs   map[string]*told
	order     map[string][]string // the output items of each response, in order
	speech    string              // the item whose speech has started
	turns     map[string]bool     // committed items; true once their transcript came
	sound     string              // the response whose audio has started
}

// told is what the events have said about an output item so far.
type told struct {
	response string
	text     string // the text of its deltas
	parts    int    // how many content parts are open
	done     bool
}

// follow checks the events of a session and returns what it found.
func follow(events []wire.ServerEvent) *protocol {
	p := &protocol{
		outOfBand: map[string]bool{}, order: map[string][]string{}, ids: map[string]bool{}, items: map[string]bool{}, ended: map[string]bool{}, outputs: map[string]*told{}, turns: map[string]bool{},
	}
	for _, e := range events {
		p.expect(e.ID() != "" && !p.ids[e.ID()], e, "an event has an id of its own")
		p.ids[e.ID()] = true
		_, created := e.(*wire.SessionCreated)
		p.expect(created != p.began, e, "session.created comes first, and once")
		p.began = true
		p.conversation(e)
		p.response(e)
		p.content(e)
		p.audio(e)
	}
	return p
}

func (p *protocol) expect(ok bool, e wire.ServerEvent, rule string) {
	if !ok {
		p.wrong = append(p.wrong, fmt.Sprintf("%s: %.300s", rule, wire.AppendServer(nil, e)))
	}
}

func (p *protocol) conversation(e wire.ServerEvent) {
	known := func(id *string) bool {
		_, is := p.items[deref(id)]
		return id == nil || is
	}
	switch e := e.(type) {
	case *wire.ConversationItemAdded:
		_, twice := p.items[e.Item.ID]
		p.expect(!twice && e.Item.ID != "", e, "an item is added once")
		p.expect(known(e.PreviousItemID), e, "previous_item_id is an item's")
		p.items[e.Item.ID] = false
		p.names = append(p.names, e.Item.ID)
		for _, c := range e.Item.Content {
			if c.Type == wire.ContentInputAudio && c.Transcript == nil {
				p.turns[e.Item.ID] = false
			}
		}
	case *wire.ConversationItemDone:
		done, added := p.items[e.Item.ID]
		p.expect(added && !done, e, "an item that was added is done once")
		p.expect(known(e.PreviousItemID), e, "previous_item_id is an item's")
		p.items[e.Item.ID] = true
	case *wire.ConversationItemDeleted:
		_, added := p.items[e.ItemID]
		p.expect(added, e, "what is deleted is an item")
		delete(p.items, e.ItemID) // its id may come again, and an item in progress is never done then
	case *wire.ConversationItemTruncated:
		_, added := p.items[e.ItemID]
		p.expect(added && e.AudioEndMS >= 0, e, "what is truncated is an item")
	case *wire.InputAudioBufferSpeechStarted:
		p.expect(p.speech == "" && e.ItemID != "", e, "speech starts when none goes on")
		p.speech = e.ItemID
	case *wire.InputAudioBufferSpeechStopped:
		p.expect(p.speech == e.ItemID, e, "the speech that started stops")
		p.speech = ""
	case *wire.InputAudioBufferCommitted:
		_, twice := p.turns[e.ItemID]
		p.expect(!twice && p.speech == "" && known(e.PreviousItemID), e, "a turn is committed once, when its speech has stopped")
		p.turns[e.ItemID] = false
	case *wire.ConversationItemInputAudioTranscriptionCompleted:
		p.transcript(e, e.ItemID)
	case *wire.ConversationItemInputAudioTranscriptionFailed:
		p.transcript(e, e.ItemID)
	case *wire.ErrorEvent:
		p.expect(e.Error.Type != "" && e.Error.Code != "" && e.Error.Message != "", e, "an error says what is wrong")
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (p *protocol) transcript(e wire.ServerEvent, item string) {
	told, spoken := p.turns[item]
	p.expect(spoken && !told, e, "what the user said has one transcript")
	p.turns[item] = true
}

func (p *protocol) response(e wire.ServerEvent) {
	switch e := e.(type) {
	case *wire.ResponseCreated:
		known := p.outOfBand[e.Response.ID] || p.ended[e.Response.ID]
		if e.Response.ConversationID == nil {
			p.expect(!known, e, "a response is created once")
			p.outOfBand[e.Response.ID] = true
			return
		}
		p.expect(p.live == "" && !known, e, "one response at a time")
		p.expect(e.Response.Status == "in_progress" && len(e.Response.Output) == 0, e, "it begins with nothing")
		p.live = e.Response.ID
	case *wire.ResponseDone:
		p.expect(p.lives(e.Response.ID), e, "what was created is done once")
		order := p.order[e.Response.ID]
		p.expect(e.Response.Status != "in_progress" && e.Response.Usage != nil, e, "it ends with a status and its usage")
		p.expect((e.Response.Status == "completed") == (e.Response.StatusDetails == nil), e, "and says why")
		p.expect(len(e.Response.Output) == len(order), e, "its output is what was said")
		for i, it := range e.Response.Output {
			p.expect(i < len(order) && it.ID == order[i] && p.outputs[it.ID].done, e, "every item is done")
		}
		if p.ended[e.Response.ID] = true; p.live == e.Response.ID {
			p.live = ""
		}
		delete(p.outOfBand, e.Response.ID)
	case *wire.ResponseOutputItemAdded:
		p.expect(p.lives(e.ResponseID) && e.OutputIndex == len(p.order[e.ResponseID]), e, "items come in order")
		p.outputs[e.Item.ID] = &told{response: e.ResponseID}
		p.order[e.ResponseID] = append(p.order[e.ResponseID], e.Item.ID)
	case *wire.ResponseOutputItemDone:
		o := p.outputs[e.Item.ID]
		p.expect(p.lives(e.ResponseID) && o != nil && !o.done && o.parts == 0, e, "an item is done once, after its parts")
		if o != nil {
			o.done = true
		}
		p.expect(e.OutputIndex < len(p.order[e.ResponseID]) && p.order[e.ResponseID][e.OutputIndex] == e.Item.ID, e, "output_index is the item's")
	}
}

// lives reports whether the response is in progress, in the conversation or out of band.
func (p *protocol) lives(response string) bool { return p.live == response || p.outOfBand[response] }

// said checks an event about the content of an output item, and returns what is known of the item.
func (p *protocol) said(e wire.ServerEvent, response, item string) *told {
	o := p.outputs[item]
	p.expect(o != nil && p.lives(response) && o.response == response && !o.done, e, "it is said of an item in progress")
	if o == nil {
		return &told{}
	}
	return o
}

func (p *protocol) content(e wire.ServerEvent) {
	switch e := e.(type) {
	case *wire.ResponseContentPartAdded:
		p.said(e, e.ResponseID, e.ItemID).parts++
	case *wire.ResponseContentPartDone:
		p.said(e, e.ResponseID, e.ItemID).parts--
	case *wire.ResponseOutputAudioTranscriptDelta:
		p.said(e, e.ResponseID, e.ItemID).text += e.Delta
	case *wire.ResponseOutputTextDelta:
		p.said(e, e.ResponseID, e.ItemID).text += e.Delta
	case *wire.ResponseFunctionCallArgumentsDelta:
		p.said(e, e.ResponseID, e.ItemID).text += e.Delta
	case *wire.ResponseOutputAudioDelta:
		p.said(e, e.ResponseID, e.ItemID)
	case *wire.ResponseOutputAudioTranscriptDone:
		p.expect(p.said(e, e.ResponseID, e.ItemID).text == e.Transcript, e, "the deltas are the text")
	case *wire.ResponseOutputTextDone:
		p.expect(p.said(e, e.ResponseID, e.ItemID).text == e.Text, e, "the deltas are the text")
	case *wire.ResponseFunctionCallArgumentsDone:
		p.expect(p.said(e, e.ResponseID, e.ItemID).text == e.Arguments, e, "the deltas are the arguments")
	}
}

func (p *protocol) audio(e wire.ServerEvent) {
	switch e := e.(type) {
	case *wire.OutputAudioBufferStarted:
		p.expect(p.sound == "", e, "one response is played at a time")
		p.sound = e.ResponseID
	case *wire.OutputAudioBufferStopped:
		p.expect(p.sound == e.ResponseID && p.ended[e.ResponseID], e, "what sounds stops, after its response")
		p.sound = ""
	case *wire.OutputAudioBufferCleared:
		p.expect(p.sound == e.ResponseID, e, "what sounds is cleared")
		p.sound = ""
	}
}
