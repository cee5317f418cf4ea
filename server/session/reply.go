package session

import (
	"strings"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/server/session/output"
	"github.com/antiphon-rt/antiphon/server/session/timing"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// The protocol's statuses of items and responses.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusCancelled  = "cancelled"
	statusFailed     = "failed"
)

// reply is one response as the session tells it: the items it has begun, and where their audio lies.
type reply struct {
	id       response.ID
	object   wire.Response
	request  *wire.ResponseParams // what the client asked of it, nil for a turn's
	turn     *timing.Turn         // the turn it answers, nil for a client's
	spoken   bool                 // audio, with its transcript; else text
	single   bool                 // it may call one tool only
	body     *body                // nil until it is started
	beside   *beside              // what it has for itself outside the conversation, else nil
	splitter *pipeline.Clauses

	message *outputItem         // the message that is open, nil when none is
	calls   map[int]*outputItem // calls by the model's index
	outputs []*outputItem

	clauses  uint32            // given to the voice
	saying   map[uint32]spoken // of them, those that are not said to their end
	textErr  error
	voiceErr error
	usage    pipeline.Usage // when it is counted
	counted  bool           // the model has said what it cost
	asked    int            // tokens of what the model was asked

	track  *output.Track
	over   bool // its terminal is sent
	cut    bool // its items were truncated
	status response.Status
}

// outputItem is one item of a response.
type outputItem struct {
	it    *conversation.Item
	index int
	start voice.Samples // of its audio within the reply
	text  string
	split string // the begin of a character that text goes on with
	done  bool
}

// --- the model's text

func (s *Session) modelSays(r *reply, ev pipeline.ModelEvent) {
	if r.over {
		return
	}
	switch ev := ev.(type) {
	case pipeline.TextDelta:
		s.textDelta(r, ev.Text)
	case pipeline.ToolCallDelta:
		if o := s.openCall(r, ev.Index, ev.Name); o != nil {
			s.argumentsDelta(r, o, ev.Arguments)
		}
	case pipeline.ToolCallDone:
		o := s.openCall(r, ev.Index, ev.Name)
		if o == nil {
			return
		}
		// What the client was told stands: a whole that begins otherwise cannot be said any more.
		if whole := strings.ToValidUTF8(ev.Arguments, "\uFFFD"); strings.HasPrefix(whole, o.text) {
			o.split = ""
			s.argumentsDelta(r, o, whole[len(o.text):])
		}
		s.closeOutput(r, o, statusCompleted)
	}
}

func (s *Session) argumentsDelta(r *reply, o *outputItem, delta string) {
	if delta = o.characters(delta); delta == "" {
		return
	}
	o.text += delta
	s.send(&wire.ResponseFunctionCallArgumentsDelta{
		ResponseID: r.object.ID, ItemID: o.it.ID, OutputIndex: o.index, CallID: o.it.CallID, Delta: delta,
	})
}

// characters gives the whole characters of what o says next: a model may cut its text within one, and an event cannot.
func (o *outputItem) characters(delta string) string {
	delta = o.split + delta
	end := len(delta)
	for i := 1; i <= min(len(delta), utf8.UTFMax-1); i++ {
		if b := delta[len(delta)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRuneInString(b) {
				end -= i
			}
			break
		}
	}
	o.split = delta[end:]
	return strings.ToValidUTF8(delta[:end], "\uFFFD")
}

func (s *Session) textDelta(r *reply, delta string) {
	if delta == "" {
		return
	}
	if r.message == nil && !s.openMessage(r) {
		return
	}
	o := r.message
	if delta = o.characters(delta); delta == "" {
		return
	}
	o.text += delta
	if r.turn != nil {
		r.turn.FirstToken(s.now())
	}
	if r.spoken {
		s.send(&wire.ResponseOutputAudioTranscriptDelta{
			ResponseID: r.object.ID, ItemID: o.it.ID, OutputIndex: o.index, Delta: delta,
		})
		for _, c := range r.splitter.Push(delta) {
			s.enqueue(r, c)
		}
		return
	}
	s.send(&wire.ResponseOutputTextDelta{ResponseID: r.object.ID, ItemID: o.it.ID, OutputIndex: o.index, Delta: delta})
}

// --- items begin and end

func (s *Session) openMessage(r *reply) bool {
	part := wire.Part{Type: "text"}
	if r.spoken {
		part.Type = "audio"
	}
	o := s.openOutput(r, wire.Item{ID: newID("item_"), Type: wire.ItemMessage, Role: pipeline.RoleAssistant, Status: statusInProgress})
	if o == nil {
		return false
	}
	o.start = r.track.Length()
	r.track.AddPart(o.it.Num(), o.it.ID, o.index)
	r.message = o
	s.send(&wire.ResponseContentPartAdded{ResponseID: r.object.ID, ItemID: o.it.ID, OutputIndex: o.index, Part: part})
	return true
}

// openCall is the call with the model's index, begun if it is new; nil when it has ended already.
func (s *Session) openCall(r *reply, index int, name string) *outputItem {
	if o := r.calls[index]; o != nil {
		if o.done {
			return nil
		}
		return o
	}
	if r.single && len(r.calls) > 0 {
		s.log.Warn("a model calls several tools where one was wanted: only the first is called", "response", r.object.ID)
		return nil
	}
	o := s.openOutput(r, wire.Item{
		ID: newID("item_"), Type: wire.ItemFunctionCall, Status: statusInProgress, CallID: newID("call_"), Name: name,
	})
	if o != nil {
		if r.calls == nil {
			r.calls = map[int]*outputItem{}
		}
		r.calls[index] = o
	}
	return o
}

// maxOutputs bounds the items of one response.
const maxOutputs = 64

func (s *Session) openOutput(r *reply, w wire.Item) *outputItem {
	if len(r.outputs) >= maxOutputs {
		return nil
	}
	o := &outputItem{index: len(r.outputs)}
	r.outputs = append(r.outputs, o)
	s.send(&wire.ResponseOutputItemAdded{ResponseID: r.object.ID, OutputIndex: o.index, Item: w})
	if r.beside != nil {
		o.it = conversation.NewItem(w)
	} else {
		var events []wire.ServerEvent
		o.it, events = s.conversation.Begin(w)
		s.sendAll(events)
	}
	return o
}

// closeOutput says everything that an item's end wants said.
func (s *Session) closeOutput(r *reply, o *outputItem, status string) {
	if o.done {
		return
	}
	o.done = true
	resp, it := r.object.ID, o.it
	it.Status = status
	switch {
	case it.Type == wire.ItemFunctionCall:
		if o.text == "" && status == statusCompleted { // clients parse it
			s.argumentsDelta(r, o, conversation.NoArguments)
		}
		it.Arguments = o.text
		s.send(&wire.ResponseFunctionCallArgumentsDone{
			ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, CallID: it.CallID, Name: it.Name, Arguments: o.text,
		})
	case r.spoken:
		text, kept := o.text, o.text
		if r.cut || it.Cut() { // the client has cleared the output, or truncated the item, while the response was made
			kept, it.Status = it.HeardText(), statusIncomplete
		}
		it.Content = []wire.Content{{Type: wire.ContentOutputAudio, Transcript: &kept}}
		s.do(r.track.LastDelta())
		s.send(&wire.ResponseOutputAudioDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index})
		s.send(&wire.ResponseOutputAudioTranscriptDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Transcript: text})
		s.send(&wire.ResponseContentPartDone{
			ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Part: wire.Part{Type: "audio", Transcript: text},
		})
	default:
		it.Content = []wire.Content{{Type: wire.ContentOutputText, Text: o.text}}
		s.send(&wire.ResponseOutputTextDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Text: o.text})
		s.send(&wire.ResponseContentPartDone{
			ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Part: wire.Part{Type: "text", Text: o.text},
		})
	}
	s.send(&wire.ResponseOutputItemDone{ResponseID: resp, OutputIndex: o.index, Item: it.Item})
	s.sendAll(s.conversation.Done(it))
	if r.message == o {
		r.message = nil
	}
}
