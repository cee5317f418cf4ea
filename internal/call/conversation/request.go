package conversation

// What a client may ask of a response, and the request that the model gets.

import (
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// codeTranscribes is the code of an error that says that a session has no responses.
const codeTranscribes = "transcription_session"

// MayRespond returns a failure when the session refuses a response as p asks for it: it has no responses, p asks for another
// value of a locked field, or the pipeline cannot do it. The conversation checks p.Input.
func (s *Settings) MayRespond(p *wire.ResponseParams, privileged bool) *room.Failure {
	if s.current.Type == typeTranscription {
		return room.Refuse(codeTranscribes, "type", "a session of type \"transcription\" has no responses: open a session of type \"realtime\"")
	}
	if !privileged {
		if err := s.locks.response(p); err != nil {
			return failure(err)
		}
	}
	return s.checkRequest(p)
}

// MayAdd returns a failure when the client may not put item into the conversation.
func (s *Settings) MayAdd(item *wire.Item, privileged bool) *room.Failure {
	if privileged {
		return nil
	}
	return failure(s.locks.item("item", item))
}

// checkRequest returns a failure when this server cannot do what p asks for, nil when it can.
func (s *Settings) checkRequest(p *wire.ResponseParams) *room.Failure {
	tools, choice := s.current.Tools, s.current.ToolChoice
	if p.HasTools {
		tools = p.Tools
	}
	if p.ToolChoice != nil {
		choice = p.ToolChoice
	}
	if field, wrong := checkTools(p.Tools, s.current.Tools, s.Servers); wrong != "" {
		return room.Refuse(wire.CodeInvalidValue, "response."+field, wrong)
	}
	if wrong := checkToolChoice(choice, tools); wrong != "" {
		return room.Refuse(wire.CodeInvalidValue, "response.tool_choice", wrong)
	}
	if word, _ := p.ToolChoice.Text(); word == "required" && len(tools) == 0 {
		return room.Refuse(wire.CodeInvalidValue, "response.tool_choice",
			"there are no tools of which one could be called: give tools, or want \"auto\"")
	}
	if p.Audio != nil && p.Audio.Voice != "" {
		if err := checkVoice(s.pipeline, p.Audio.Voice); err != nil {
			return room.Refuse(wire.CodeInvalidValue, "response.audio.output.voice", err.Error())
		}
	}
	if p.Prompt != nil {
		if bad := checkPrompt(s.pipeline, p.Prompt); bad != nil {
			return room.Refuse(bad.Code, "response."+bad.Param, bad.Message)
		}
	}
	return nil
}

// ModelRequest returns the model's request for the response that p asks for, without Messages, MaxOutputTokens and
// Voice. p is nil for a response to a turn. What p does not give comes from the session's settings.
func (s *Settings) ModelRequest(p *wire.ResponseParams) pipeline.Request {
	set := &s.current
	q := pipeline.Request{Model: set.Model, Instructions: s.Instructions(p), ParallelToolCalls: set.ParallelToolCalls, TimeZone: s.timeZone}
	if t := s.Transcription(); t != nil {
		q.Language = t.Language
	}
	tools, choice := set.Tools, set.ToolChoice
	if p != nil {
		if p.HasTools {
			tools = p.Tools
		}
		if p.ToolChoice != nil {
			choice = p.ToolChoice
		}
		if p.ParallelToolCalls != nil {
			q.ParallelToolCalls = *p.ParallelToolCalls
		}
	}
	q.ToolChoice = toolChoice(choice)
	for _, t := range tools {
		if t.Type != typeFunction {
			continue // the room speaking offers those that are loaded
		}
		q.Tools = append(q.Tools, pipeline.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return q
}
