package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/wire"
)

// checkRequest says what of a response.create cannot be done, or nil.
func (s *Session) checkRequest(p *wire.ResponseParams) *failure {
	tools, choice := s.settings.Tools, s.settings.ToolChoice
	if p.HasTools {
		tools = p.Tools
	}
	if p.ToolChoice != nil {
		choice = p.ToolChoice
	}
	if i := slices.IndexFunc(tools, func(t wire.Tool) bool { return t.Type != "function" }); i >= 0 {
		return &failure{
			code: wire.CodeInvalidValue, param: fmt.Sprintf("response.tools[%d].type", i),
			message: "this server has no MCP tools: want tools of type \"function\"",
		}
	}
	if i := twice(p.Tools); i >= 0 {
		return &failure{code: wire.CodeInvalidValue, param: fmt.Sprintf("response.tools[%d].name", i), message: sameName(p.Tools[i].Name)}
	}
	if wrong := choosable(choice, tools); wrong != "" {
		return &failure{code: wire.CodeInvalidValue, param: "response.tool_choice", message: wrong}
	}
	if word, _ := p.ToolChoice.Text(); word == "required" && len(tools) == 0 {
		return &failure{
			code: wire.CodeInvalidValue, param: "response.tool_choice",
			message: "there are no tools of which one could be called: give tools, or want \"auto\"",
		}
	}
	if p.Audio != nil && p.Audio.Voice != "" {
		if err := knownVoice(s.cfg.Pipeline, p.Audio.Voice); err != nil {
			return &failure{code: wire.CodeInvalidValue, param: "response.audio.output.voice", message: err.Error()}
		}
	}
	if p.Prompt != nil {
		if bad := knownPrompt(s.cfg.Pipeline, p.Prompt); bad != nil {
			return &failure{code: bad.Code, param: "response." + bad.Param, message: bad.Message}
		}
	}
	return s.checkInput(p.Input)
}

// checkInput says what of a response's own input is wrong, or nil.
func (s *Session) checkInput(input []wire.Item) *failure {
	for i, w := range input {
		at := fmt.Sprintf("response.input[%d]", i)
		if w.Type == wire.ItemReference {
			if it, _ := s.conversation.find(w.ID); it == nil {
				return &failure{code: "item_not_found", param: at + ".id", message: "there is no item \"" + w.ID + "\" in the conversation"}
			}
			continue
		}
		if f, ok := checkItem(w); !ok {
			f.param = at + strings.TrimPrefix(f.param, "item")
			return &f
		}
		untold := func(c wire.Content) bool { return c.Type == wire.ContentInputAudio && c.Transcript == nil }
		if part := slices.IndexFunc(w.Content, untold); part >= 0 {
			return &failure{
				code: wire.CodeInvalidValue, param: fmt.Sprintf("%s.content[%d].transcript", at, part),
				message: "give the audio's transcript; to have audio transcribed, create an item of it and name that in an item_reference",
			}
		}
	}
	return nil
}
