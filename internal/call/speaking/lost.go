package speaking

import (
	"slices"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Responses that an earlier session of the call has begun and not ended.

// Called reports whether a call of a function of the client is complete in a response: the client may have called the function.
func Called(r journal.Response) bool {
	return slices.ContainsFunc(r.Items, func(it journal.OpenItem) bool { return it.Done && it.Kind == wire.ItemFunctionCall })
}

// EndLost ends a response that an earlier session of the call has begun and not ended: as completed or as cancelled.
func (g *Generator) EndLost(r journal.Response, completed bool) (out room.List) {
	done := r.Response
	done.Status = statusCancelled
	done.StatusDetails = &wire.StatusDetails{Type: statusCancelled, Reason: "client_cancelled", Error: &wire.StatusError{Type: "server_error", Code: room.CodeMoved}}
	if completed {
		done.Status, done.StatusDetails = statusCompleted, nil
	}
	var items []*conversation.Item
	for _, o := range r.Items {
		it := g.Conversation.Find(o.Item)
		if it == nil && done.ConversationID == nil { // no journal has it
			it = &conversation.Item{Item: wire.Item{ID: o.Item, Type: o.Kind, Status: "incomplete"}}
			if o.Kind == wire.ItemMessage {
				it.Role = pipeline.RoleAssistant
			}
		}
		if it == nil { // it is deleted
			continue
		}
		if !o.Done {
			out = append(out, g.endLostItem(done.ID, o, it)...)
		}
		items = append(items, it)
	}
	out.Send(responseDone(&done, items))
	return out
}

// endLostItem ends an output item of such a response.
func (g *Generator) endLostItem(of string, o journal.OpenItem, it *conversation.Item) (out room.List) {
	switch it.Type {
	case wire.ItemMCPCall:
		if it.Running() || it.Asking() { // it is called again, and done when the tool has ended; or its request for approval stands
			out.Send(&wire.ResponseOutputItemDone{ResponseID: of, OutputIndex: o.Index, Item: it.Item})
			return out
		}
		g.Conversation.LoseOutcome(it)
		out.Send(&wire.ResponseMCPCallFailed{ItemID: it.ID, OutputIndex: o.Index})
	case wire.ItemFunctionCall:
		it.Status = "incomplete"
		out.Send(&wire.ResponseFunctionCallArgumentsDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, CallID: it.CallID, Name: it.Name})
	default:
		said := it.Interrupt(o.Part == "audio")
		switch o.Part {
		case "audio":
			out.Send(&wire.ResponseOutputAudioDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index})
			out.Send(&wire.ResponseOutputAudioTranscriptDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, Transcript: said})
			out.Send(&wire.ResponseContentPartDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, Part: wire.Part{Type: o.Part, Transcript: said}})
		case "text":
			out.Send(&wire.ResponseOutputTextDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index})
			out.Send(&wire.ResponseContentPartDone{ResponseID: of, ItemID: it.ID, OutputIndex: o.Index, Part: wire.Part{Type: o.Part}})
		}
	}
	out.Send(&wire.ResponseOutputItemDone{ResponseID: of, OutputIndex: o.Index, Item: it.Item})
	out.SendAll(g.Conversation.Done(it))
	return out
}
