package protocolcheck

// The rules for responses: their items, parts, deltas and the one end.

import (
	"slices"
	"strings"
	"time"
)

// response is the state of one response, according to the events.
type response struct {
	id        string
	done      bool
	outOfBand bool // it does not write to the conversation
	outputs   []*output
	started   int // the line of its output_audio_buffer.started; 0 when it was not played
	cleared   int // the line of its output_audio_buffer.cleared
	cut       int // the line of the first item that was done and incomplete
	early     int // the line of its last truncation before response.done
	rate      int // bytes a second of its audio in events

	byClient bool // cleared is an answer to output_audio_buffer.clear
	silenced bool // the client has sent output_audio_buffer.clear: messages that begin later are truncated at 0 ms
}

// output is one item of a response.
type output struct {
	id    string
	kind  string
	index int
	stage stage
	text  strings.Builder // the text of the deltas
	told  bool            // the event with the whole text has come: no delta may follow

	truncated bool // it was truncated before it was done: the item keeps the beginning of the text
}

// stage is how far an item has come; it only grows.
type stage int

const (
	itemAdded stage = iota
	partAdded
	audioDone
	textDone // output_text, transcript or arguments
	partDone
	itemDone
)

// hasPart reports whether the server has announced something of the response that can be played. A tool call may come after it.
func (r *response) hasPart() bool {
	return slices.ContainsFunc(r.outputs, func(o *output) bool { return o.stage >= partAdded })
}

func (r *response) find(id string) *output {
	for _, o := range r.outputs {
		if o.id == id {
			return o
		}
	}
	return nil
}

func (s *session) ofResponse(e *event) {
	switch e.Type {
	case "response.created":
		s.created(e)
		return
	case "response.done":
		s.responseDone(e)
		return
	}
	r := s.responses[e.ResponseID]
	if e.ResponseID == "" {
		r = s.withItem(e.ItemID)
	}
	switch {
	case r == nil:
		s.broken("OneDonePerResponse", "%s of response %q, which was not created", e.Type, e.ResponseID)
		return
	case r.done && strings.HasPrefix(e.Type, "response.mcp_call.") && s.runs[e.ItemID]: // it was approved after its response
		return
	case r.done:
		s.broken("NothingAfterDone", "%s of response %s", e.Type, r.id)
	}
	if e.Type == "response.output_item.added" {
		s.outputAdded(r, e)
		return
	}
	id := e.ItemID
	if e.Type == "response.output_item.done" {
		id = e.Item.ID
	}
	o := r.find(id)
	if o == nil {
		s.broken("EveryAddedIsDone", "%s of item %q, which was not added to response %s", e.Type, id, r.id)
		return
	}
	if e.OutputIndex != o.index || e.ContentIndex != 0 {
		s.broken("StableIndexes", "%s of item %s has the indexes %d and %d instead of %d and 0", e.Type, id, e.OutputIndex, e.ContentIndex, o.index)
	}
	s.outputEvent(o, e)
}

// withItem returns the response that has an item, for the events that name no response; nil for none.
func (s *session) withItem(id string) *response {
	for _, r := range s.responses {
		if r.find(id) != nil {
			return r
		}
	}
	return nil
}

func (s *session) created(e *event) {
	id := e.Response.ID
	if s.responses[id] != nil {
		s.broken("OneDonePerResponse", "response %s is created twice", id)
		return
	}
	o := s.playback.owed
	s.playback.owed = nil
	if o != nil && slices.ContainsFunc(o.outputs, func(o *output) bool { return o.kind == "message" && slices.Contains(s.conversation, o.id) }) {
		s.broken("InterruptionOrder", "response %s was interrupted and is not truncated before the next", o.id)
	}
	r := &response{id: id, outOfBand: e.Response.ConversationID == nil, rate: bytesPerSecond(e.Response.Audio.Output.Format.Type)}
	s.responses[id] = r
	if e.Response.Status != "in_progress" || e.Response.Usage != nil || len(e.Response.Output) > 0 {
		s.broken("OneDonePerResponse", "response %s does not begin empty and in progress", id)
	}
	s.wished(e)
	if r.outOfBand {
		return
	}
	if s.live != "" {
		s.broken("OneLiveResponse", "response %s is created while %s is live", id, s.live)
	}
	s.live = id
}

func (s *session) outputAdded(r *response, e *event) {
	if r.find(e.Item.ID) != nil {
		s.broken("EveryAddedIsDone", "item %s is added twice", e.Item.ID)
		return
	}
	if e.OutputIndex != len(r.outputs) {
		s.broken("StableIndexes", "item %s has output_index %d, and there are %d before it", e.Item.ID, e.OutputIndex, len(r.outputs))
	}
	r.outputs = append(r.outputs, &output{id: e.Item.ID, kind: e.Item.Type, index: e.OutputIndex})
}

// outputEvent checks an event of one item between its added and its done event.
func (s *session) outputEvent(o *output, e *event) {
	switch e.Type {
	case "response.content_part.added":
		s.reach(o, e, itemAdded, partAdded)
	case "response.output_text.delta", "response.output_audio_transcript.delta", "response.function_call_arguments.delta",
		"response.mcp_call_arguments.delta":
		if o.told {
			s.broken("DeltasAreTheText", "item %s has a delta after its text", o.id)
		}
		o.text.WriteString(e.Delta)
		s.between(o, e, o.opened(), audioDone)
	case "response.output_audio.delta":
		s.playback.socket(s)
		s.playback.sent[o.id] += audioOf(e.Delta, s.responses[e.ResponseID].rate)
		s.between(o, e, partAdded, partAdded)
	case "response.output_audio.done":
		s.reach(o, e, partAdded, audioDone)
	case "response.output_text.done":
		s.reach(o, e, partAdded, textDone)
		s.tell(o, e, e.Text)
	case "response.output_audio_transcript.done":
		s.reach(o, e, audioDone, textDone)
		s.tell(o, e, e.Transcript)
	case "response.function_call_arguments.done", "response.mcp_call_arguments.done":
		s.reach(o, e, itemAdded, textDone)
		s.tell(o, e, e.Arguments)
	case "response.mcp_call.in_progress":
		s.reach(o, e, textDone, textDone)
	case "response.mcp_call.completed", "response.mcp_call.failed":
		s.reach(o, e, textDone, partDone)
	case "response.content_part.done":
		s.reach(o, e, textDone, partDone)
		s.tell(o, e, e.Part.said())
	case "response.output_item.done":
		before, said := partDone, ""
		if o.kind == "function_call" || o.kind == "mcp_call" {
			before, said = textDone, e.Item.Arguments
		}
		if o.kind == "mcp_approval_request" {
			before = itemAdded
		}
		if o.kind == "mcp_call" && e.Item.Status == "completed" {
			before = partDone
		}
		goesOn := o.kind == "mcp_call" && e.Item.Status == "in_progress" // the tool ends after its response
		s.runs[o.id] = goesOn
		for _, p := range e.Item.Content {
			said += p.said()
		}
		s.reach(o, e, before, itemDone)
		s.tell(o, e, said)
		if r := s.responses[e.ResponseID]; e.Item.Status == "incomplete" && r.cut == 0 {
			r.cut = s.line
		}
		if e.Item.Status != "completed" && e.Item.Status != "incomplete" && !goesOn {
			s.broken("EveryAddedIsDone", "item %s is done with the status %q", o.id, e.Item.Status)
		}
	}
}

// opened returns the stage in which an item takes deltas.
func (o *output) opened() stage {
	if o.kind == "function_call" || o.kind == "mcp_call" {
		return itemAdded
	}
	return partAdded
}

func (s *session) reach(o *output, e *event, from, to stage) {
	s.between(o, e, from, from)
	o.stage = to
}

func (s *session) between(o *output, e *event, from, to stage) {
	if o.stage < from || o.stage > to {
		s.broken("EveryAddedIsDone", "%s of item %s is out of order", e.Type, o.id)
	}
}

// tell compares a whole text with the deltas before it.
func (s *session) tell(o *output, e *event, text string) {
	deltas := o.text.String()
	kept := o.truncated && e.Type == "response.output_item.done" && strings.HasPrefix(deltas, text)
	if text != deltas && !kept {
		s.broken("DeltasAreTheText", "%s of item %s says %.80q, its deltas %.80q", e.Type, o.id, text, deltas)
	}
	o.told = true
}

func (s *session) responseDone(e *event) {
	r := s.responses[e.Response.ID]
	if r == nil || r.done {
		s.broken("OneDonePerResponse", "response.done of response %q, which is not live", e.Response.ID)
		return
	}
	r.done = true
	if s.live == r.id {
		s.live = ""
	}
	if e.Response.Status == "in_progress" || e.Response.Usage == nil {
		s.broken("OneDonePerResponse", "response %s is done with the status %q, usage %v", r.id, e.Response.Status, e.Response.Usage != nil)
	}
	var ids []string
	for _, it := range e.Response.Output {
		ids = append(ids, it.ID)
	}
	var added []string
	for _, o := range r.outputs {
		added = append(added, o.id)
		if o.stage != itemDone {
			s.broken("EveryAddedIsDone", "response %s is done before its item %s", r.id, o.id)
		}
		if done, inside := s.items[o.id]; !done && !r.outOfBand && !s.runs[o.id] {
			s.broken("EveryAddedIsDone", "response %s is done before conversation.item.done of its item %s", r.id, o.id)
		} else if inside && r.outOfBand {
			s.broken("OneLiveResponse", "response %s is outOfBand the conversation and writes item %s there", r.id, o.id)
		}
	}
	if !slices.Equal(ids, added) {
		s.broken("EveryAddedIsDone", "response %s has the output %q, and %q were added", r.id, ids, added)
	}
	s.wished(e)
	s.interrupted(r, e)
}

// wished checks that the metadata of a response comes from the client.
func (s *session) wished(e *event) {
	if m := compact(e.Response.Metadata); m != "" && !s.wishes[m] {
		s.broken("MetadataComesBack", "%s has the metadata %.80s, which no response.create gave", e.Type, m)
	}
}

// bytesPerSecond returns the size of a second of audio: 16 bit at 24 kHz, or 8 bit at 8 kHz.
func bytesPerSecond(format string) int {
	if format == "audio/pcmu" || format == "audio/pcma" {
		return 8000
	}
	return 2 * 24000
}

func audioOf(base64 string, rate int) time.Duration {
	bytes := len(base64)/4*3 - strings.Count(base64[max(0, len(base64)-2):], "=")
	return time.Duration(bytes) * time.Second / time.Duration(rate)
}
