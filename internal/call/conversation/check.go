package conversation

// Checks of the items that a client gives: for the conversation, or as a response's own input.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// contents are the types of content parts that a message of each role may have.
var contents = map[string][]string{
	"user":      {wire.ContentInputText, wire.ContentInputAudio, wire.ContentInputImage},
	"system":    {wire.ContentInputText},
	"assistant": {wire.ContentOutputText, wire.ContentOutputAudio},
}

// maxName is the most bytes of the id, the call_id and the name of an item.
const maxName = 256

// Check returns a failure for an item that a client cannot put into a conversation. Its Param begins with "item".
func Check(w wire.Item) *room.Failure {
	bad := func(param, message string) *room.Failure {
		return room.Refuse(wire.CodeInvalidValue, "item."+param, message)
	}
	for param, text := range map[string]string{"id": w.ID, "call_id": w.CallID, "name": w.Name} { // events repeat them
		if len(text) > maxName {
			return bad(param, fmt.Sprintf("it has %d bytes: want at most %d", len(text), maxName))
		}
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
	case wire.ItemMCPApprovalResponse:
	default:
		return bad("type", "a client can create items of type \"message\", \"function_call\", \"function_call_output\" and \"mcp_approval_response\"")
	}
	return nil
}

// CheckInput returns a failure for items that a response.create cannot have as its own input.
func (c *Conversation) CheckInput(input []wire.Item) *room.Failure {
	bytes := 0
	for i, w := range input {
		at := fmt.Sprintf("response.input[%d]", i)
		if w.Type == wire.ItemReference {
			it := c.Find(w.ID)
			if it == nil {
				return room.Refuse("item_not_found", at+".id", "there is no item \""+w.ID+"\" in the conversation")
			}
			if bytes += size(it.Item); bytes > maxBytes {
				return inputTooLarge()
			}
			continue
		}
		if bytes += size(w); bytes > maxBytes {
			return inputTooLarge()
		}
		if w.Type == wire.ItemMCPApprovalResponse {
			return room.Refuse(wire.CodeInvalidValue, at+".type", "an approval is for the conversation: use conversation.item.create")
		}
		if f := Check(w); f != nil {
			f.Param = at + strings.TrimPrefix(f.Param, "item")
			return f
		}
		withoutTranscript := func(p wire.Content) bool { return p.Type == wire.ContentInputAudio && p.Transcript == nil }
		if part := slices.IndexFunc(w.Content, withoutTranscript); part >= 0 {
			return room.Refuse(wire.CodeInvalidValue, fmt.Sprintf("%s.content[%d].transcript", at, part),
				"give the audio's transcript; to have audio transcribed, create an item of it and name that in an item_reference")
		}
	}
	return nil
}

// inputTooLarge returns the failure for a response's own input that is larger than a conversation may be. The same item may be named many times in it.
func inputTooLarge() *room.Failure {
	return room.Refuse("input_too_large", "response.input",
		fmt.Sprintf("the items of the input and the other texts take more than %d bytes together: leave some out", maxBytes))
}
