package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// noArguments are those of a call without any: they are a JSON object, whatever a client or a model leaves out.
const noArguments = "{}"

func (s *Session) createItem(e *wire.ConversationItemCreate) {
	w := e.Item
	if f, ok := checkItem(w); !ok {
		s.fail(f)
		return
	}
	if refused := s.settings.MayAdd(&w, s.privileged()); refused != nil {
		s.report(refused)
		return
	}
	if w.ID == "" {
		w.ID = newID("item_")
	} else if it, _ := s.conversation.find(w.ID); it != nil {
		s.fail(failure{code: "item_already_exists", param: "item.id", message: "there is an item " + w.ID + " already: choose another id, or leave it out"})
		return
	}
	if w.Type != wire.ItemMessage || w.Status != statusIncomplete { // else a message was cut off, and stays so
		w.Status = statusCompleted
	}
	if w.Type == wire.ItemFunctionCall {
		w.CallID = cmp.Or(w.CallID, newID("call_"))
		w.Arguments = cmp.Or(w.Arguments, noArguments)
	}
	recording, refused := s.speech.TakeRecording(&w, s.settings.InputFormat())
	if refused != nil {
		s.report(refused)
		return
	}
	it, previous := s.insert(w, e.PreviousItemID)
	if it == nil {
		s.fail(failure{
			code: "item_create_invalid_previous_item_id", param: "previous_item_id",
			message: fmt.Sprintf("there is no item %q: give the id of one, \"root\", or leave it out", e.PreviousItemID),
		})
		return
	}
	s.send(&wire.ConversationItemAdded{PreviousItemID: previous, Item: w})
	s.send(&wire.ConversationItemDone{PreviousItemID: previous, Item: w})
	if recording != nil {
		s.transcribe(it, recording)
	}
}

// contents are the parts that a role's message may have.
var contents = map[string][]string{
	"user":      {wire.ContentInputText, wire.ContentInputAudio, wire.ContentInputImage},
	"system":    {wire.ContentInputText},
	"assistant": {wire.ContentOutputText, wire.ContentOutputAudio},
}

// checkItem refuses what a client cannot put into the conversation.
func checkItem(w wire.Item) (failure, bool) {
	bad := func(param, message string) (failure, bool) {
		return failure{code: wire.CodeInvalidValue, param: "item." + param, message: message}, false
	}
	switch w.Type {
	case wire.ItemMessage:
		allowed, ok := contents[w.Role]
		if !ok {
			return bad("role", "a message's role is \"user\", \"assistant\" or \"system\"")
		}
		if len(w.Content) == 0 {
			return bad("content", "a message needs at least one content part")
		}
		for i, c := range w.Content {
			if !slices.Contains(allowed, c.Type) {
				return bad(fmt.Sprintf("content[%d].type", i), fmt.Sprintf("a message of role %q takes parts of type %q", w.Role, allowed))
			}
			if c.Type == wire.ContentInputImage {
				if field, wrong := checkImage(c); wrong != "" {
					return bad(fmt.Sprintf("content[%d].%s", i, field), wrong)
				}
			}
		}
	case wire.ItemFunctionCall:
		if w.Name == "" {
			return bad("name", "a function call needs the function's name")
		}
	case wire.ItemFunctionCallOutput:
		if w.CallID == "" {
			return bad("call_id", "give the call_id of the function call that this answers")
		}
	default:
		return bad("type", "a client can create items of type \"message\", \"function_call\" and \"function_call_output\"")
	}
	return failure{}, true
}

// checkInput says what of a response's own input is wrong, or nil.
func (s *Session) checkInput(input []wire.Item) *fault.Failure {
	for i, w := range input {
		at := fmt.Sprintf("response.input[%d]", i)
		if w.Type == wire.ItemReference {
			if it, _ := s.conversation.find(w.ID); it == nil {
				return &fault.Failure{Code: "item_not_found", Param: at + ".id", Message: "there is no item \"" + w.ID + "\" in the conversation"}
			}
			continue
		}
		if f, ok := checkItem(w); !ok {
			return &fault.Failure{Code: f.code, Message: f.message, Param: at + strings.TrimPrefix(f.param, "item")}
		}
		untold := func(c wire.Content) bool { return c.Type == wire.ContentInputAudio && c.Transcript == nil }
		if part := slices.IndexFunc(w.Content, untold); part >= 0 {
			return &fault.Failure{
				Code: wire.CodeInvalidValue, Param: fmt.Sprintf("%s.content[%d].transcript", at, part),
				Message: "give the audio's transcript; to have audio transcribed, create an item of it and name that in an item_reference",
			}
		}
	}
	return nil
}

func (s *Session) deleteItem(e *wire.ConversationItemDelete) {
	it, i := s.conversation.find(e.ItemID)
	if it == nil {
		s.unknownItem("item_delete_invalid_item_id", e.ItemID)
		return
	}
	s.conversation.items = slices.Delete(s.conversation.items, i, i+1)
	s.send(&wire.ConversationItemDeleted{ItemID: e.ItemID})
	s.startWaiting()
}

func (s *Session) retrieveItem(e *wire.ConversationItemRetrieve) {
	it, _ := s.conversation.find(e.ItemID)
	if it == nil {
		s.unknownItem("item_retrieve_invalid_item_id", e.ItemID)
		return
	}
	s.send(&wire.ConversationItemRetrieved{Item: s.withSound(it)})
}

func (s *Session) truncateItem(e *wire.ConversationItemTruncate) {
	it, _ := s.conversation.find(e.ItemID)
	if it == nil {
		s.unknownItem("item_truncate_invalid_item_id", e.ItemID)
		return
	}
	said := s.sentOf(it)
	switch {
	case it.Type != wire.ItemMessage || it.Role != "assistant" || it.audio == nil:
		s.fail(failure{code: "unsupported_content_type", param: "item_id", message: "Only model output audio messages can be truncated"})
	case e.ContentIndex != 0:
		s.fail(failure{code: wire.CodeInvalidValue, param: "content_index", message: "the item has one part: content_index must be 0"})
	case e.AudioEndMS < 0 || voice.SamplesIn(int64(e.AudioEndMS), format.OutputRate) > said+format.OutputRate/1000:
		s.fail(failure{
			code: wire.CodeInvalidValue, param: "audio_end_ms",
			message: fmt.Sprintf("Audio content of %dms is already shorter than %dms",
				said.Milliseconds(format.OutputRate), e.AudioEndMS),
		})
	default:
		s.cutItem(it, e.AudioEndMS)
		s.clientStopped(it)
	}
}

// clientStopped: a client that plays by itself has cut the item off, so its playback is over.
func (s *Session) clientStopped(it *item) {
	if r := s.replyOnAir(); r != nil && !s.player.ServerPaced() && r.over && slices.ContainsFunc(r.outputs, func(o *outputItem) bool { return o.it == it }) {
		s.step(coord.OfPlayout{Event: playout.Clear{}})
	}
}

func (s *Session) unknownItem(code, name string) {
	s.fail(failure{code: code, param: "item_id", message: fmt.Sprintf("there is no item %q in the conversation", name)})
}
