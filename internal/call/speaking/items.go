package speaking

// The output items of a response: how they begin, grow and end, as the client sees it.

import (
	"strings"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/coord/remotecall"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
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

// maxCalls bounds the tool calls of one response. Further ones are left out. A message begins once in each step of the model, so that the steps
// bound the messages: what the model says after its calls must not be left out.
const maxCalls = 64

// modelSays takes a piece of the model's output. After the terminal event it takes nothing.
func (g *Generator) modelSays(r *Response, ev pipeline.ModelEvent) room.List {
	if r.closed() {
		return nil
	}
	switch ev := ev.(type) {
	case pipeline.Thinking:
		return g.thinks(r, ev)
	case pipeline.TextDelta:
		return g.textDelta(r, ev.Text)
	case pipeline.ToolCallDelta:
		o, out := g.openCall(r, ev.Index, ev.Name)
		if o != nil {
			out = append(out, r.argumentsDelta(o, ev.Arguments)...)
		}
		return out
	case pipeline.ToolCallDone:
		o, out := g.openCall(r, ev.Index, ev.Name)
		if o == nil {
			if r.tools.withholds(ev.Name) {
				g.Log.Warn("a model calls a tool of the server that it may not call now: the call is left out", "response", r.object.ID, "tool", ev.Name)
			}
			return out
		}
		// The client has already received the beginning of the arguments, so whole arguments that begin differently cannot be sent.
		if whole := strings.ToValidUTF8(ev.Arguments, "\uFFFD"); strings.HasPrefix(whole, o.text.String()) {
			o.split = ""
			out = append(out, r.argumentsDelta(o, whole[o.text.Len():])...)
		}
		if o.item.Type == wire.ItemMCPCall {
			return append(out, g.callDone(r, o)...)
		}
		return append(out, g.closeItem(r, o, statusCompleted)...)
	}
	return nil
}

// thinks tells the client what the model does before its first word, each time that this changes.
func (g *Generator) thinks(r *Response, ev pipeline.Thinking) (out room.List) {
	state := "thinking"
	if ev.Loading {
		state = "loading"
	} else if r.turn != nil {
		r.turn.Thinking(g.Env.Now())
	}
	if r.progress == state || len(r.text.items) > 0 {
		return nil
	}
	r.progress = state
	if g.Settings.Client.Extended {
		out.Send(&wire.AntiphonResponseProgress{ResponseID: r.object.ID, State: state})
	}
	return out
}

func (r *Response) argumentsDelta(o *outputItem, delta string) (out room.List) {
	if delta = o.characters(delta); delta == "" {
		return nil
	}
	o.text.WriteString(delta)
	if o.item.Type == wire.ItemMCPCall {
		out.Send(&wire.ResponseMCPCallArgumentsDelta{ResponseID: r.object.ID, ItemID: o.item.ID, OutputIndex: o.index, Delta: delta})
		return out
	}
	out.Send(&wire.ResponseFunctionCallArgumentsDelta{
		ResponseID: r.object.ID, ItemID: o.item.ID, OutputIndex: o.index, CallID: o.item.CallID, Delta: delta,
	})
	return out
}

// characters returns the whole characters of the text with which o continues. A model may cut its text inside a character, and an
// event cannot: o keeps the begun character.
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

func (g *Generator) textDelta(r *Response, delta string) (out room.List) {
	if delta == "" {
		return nil
	}
	if r.text.message == nil {
		out = g.openMessage(r)
	}
	o := r.text.message
	if delta = o.characters(delta); delta == "" {
		return out
	}
	o.text.WriteString(delta)
	if r.turn != nil {
		r.turn.FirstToken(g.Env.Now())
	}
	if !r.spoken {
		out.Send(&wire.ResponseOutputTextDelta{ResponseID: r.object.ID, ItemID: o.item.ID, OutputIndex: o.index, Delta: delta})
		return out
	}
	out.Send(&wire.ResponseOutputAudioTranscriptDelta{
		ResponseID: r.object.ID, ItemID: o.item.ID, OutputIndex: o.index, Delta: delta,
	})
	for _, c := range r.text.splitter.Push(delta) {
		out = append(out, g.enqueue(r, c)...)
	}
	return out
}

// openMessage begins r's message.
func (g *Generator) openMessage(r *Response) room.List {
	part := wire.Part{Type: "text"}
	if r.spoken {
		part.Type = "audio"
	}
	o, out := g.openItem(r, wire.Item{
		ID: g.Env.NewID("item_"), Type: wire.ItemMessage, Role: pipeline.RoleAssistant, Status: statusInProgress,
	})
	o.start = r.track.Length()
	r.track.AddPart(o.item.Num(), o.item.ID, o.index)
	r.text.message = o
	out.Send(&wire.ResponseContentPartAdded{ResponseID: r.object.ID, ItemID: o.item.ID, OutputIndex: o.index, Part: part})
	out = append(out, g.place(r, o, 0, 0, 0)...)
	if r.spoken && r.cut { // the client has cleared the output: the user does not hear this message
		out.SendAll(g.Conversation.Cut(o.item, 0))
	}
	return out
}

// openCall returns the tool call with the model's index, and begins it if it is new. It returns nil for a call that has
// ended already, or that may not begin.
func (g *Generator) openCall(r *Response, index int, name string) (*outputItem, room.List) {
	if o := r.text.calls[index]; o != nil {
		if o.done || o.running {
			return nil, nil
		}
		return o, nil
	}
	if r.single && len(r.text.calls) > 0 {
		g.Log.Warn("a model calls several tools where one was wanted: only the first is called", "response", r.object.ID)
		return nil, nil
	}
	if r.tools.calls >= maxCalls || r.tools.withholds(name) {
		return nil, nil
	}
	call := wire.Item{ID: g.Env.NewID("item_"), Type: wire.ItemFunctionCall, Status: statusInProgress, Name: name}
	remote := r.tools.remote[name]
	switch {
	case remote != nil && r.tools.offered[name]:
		call.Type, call.ServerLabel, call.Name = wire.ItemMCPCall, remote.label, remote.name
	case r.tools.offered[name]:
		call.Type, call.ServerLabel = wire.ItemMCPCall, mcp.OwnLabel
	default:
		call.CallID = g.Env.NewID("call_")
	}
	o, out := g.openItem(r, call)
	if remote != nil {
		o.remote = &remoteCall{state: remotecall.Writing{}, tool: remote}
	}
	r.tools.calls++
	r.tools.clients = r.tools.clients || call.CallID != "" || remote != nil && (!g.AnswerRemote || remote.asks)
	if r.text.calls == nil {
		r.text.calls = map[int]*outputItem{}
	}
	r.text.calls[index] = o
	return o, out
}

func (g *Generator) openItem(r *Response, w wire.Item) (*outputItem, room.List) {
	var out room.List
	o := &outputItem{index: len(r.text.items)}
	r.text.items = append(r.text.items, o)
	out.Send(&wire.ResponseOutputItemAdded{ResponseID: r.object.ID, OutputIndex: o.index, Item: w})
	if r.OutOfBand() {
		o.item = conversation.NewItem(w)
		return o, out
	}
	item, events := g.Conversation.Begin(w)
	o.item = item
	out.SendAll(events)
	return o, out
}

// closeItem sends the events at the end of an item.
func (g *Generator) closeItem(r *Response, o *outputItem, status string) (out room.List) {
	if o.done {
		return nil
	}
	o.done = true
	resp, it := r.object.ID, o.item
	it.Status = status
	switch {
	case it.Type == wire.ItemMCPCall:
		if o.running {
			it.Status = statusInProgress
		} else if it.Arguments == "" { // the response ends before the model has written all arguments
			it.Arguments = o.text.String()
			if o.remote != nil {
				g.stepRemote(toolRun{r, o}, remotecall.Cut{}, "")
			}
			out.Send(&wire.ResponseMCPCallArgumentsDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Arguments: o.text.String()})
		}
	case it.Type == wire.ItemMCPApprovalRequest:
	case it.Type == wire.ItemFunctionCall:
		if o.text.Len() == 0 && status == statusCompleted { // clients parse the arguments
			out = append(out, r.argumentsDelta(o, conversation.NoArguments)...)
		}
		it.Arguments = o.text.String()
		out.Send(&wire.ResponseFunctionCallArgumentsDone{
			ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, CallID: it.CallID, Name: it.Name, Arguments: o.text.String(),
		})
	case r.spoken:
		said := o.text.String()
		kept := said
		if it.Cut() { // the client has cleared the output, or truncated the item, while the response was made
			kept, it.Status = it.HeardText(), statusIncomplete
		}
		it.Content = []wire.Content{{Type: wire.ContentOutputAudio, Transcript: &kept}}
		out = append(out, r.track.LastDelta()...)
		out.Send(&wire.ResponseOutputAudioDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index})
		out.Send(&wire.ResponseOutputAudioTranscriptDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Transcript: said})
		out.Send(&wire.ResponseContentPartDone{
			ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Part: wire.Part{Type: "audio", Transcript: said},
		})
	default:
		it.Content = []wire.Content{{Type: wire.ContentOutputText, Text: o.text.String()}}
		if r.status == response.TurnDetected || r.status == response.ClientCancelled {
			it.Stop()
		}
		out.Send(&wire.ResponseOutputTextDone{ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Text: o.text.String()})
		out.Send(&wire.ResponseContentPartDone{
			ResponseID: resp, ItemID: it.ID, OutputIndex: o.index, Part: wire.Part{Type: "text", Text: o.text.String()},
		})
	}
	out.Send(&wire.ResponseOutputItemDone{ResponseID: resp, OutputIndex: o.index, Item: it.Item})
	if !o.running { // otherwise the item is done when the tool has ended
		out.SendAll(g.Conversation.Done(it))
	}
	if r.text.message == o {
		r.text.message = nil
	}
	return out
}
