package conversation

// Stored prompts of the pipeline, and the instructions of a response.

import (
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// codePrompt is the code of an error that refuses a prompt.
const codePrompt = "prompt_not_found"

// checkPrompt refuses a prompt that the pipeline does not have. The error's Param begins with "prompt".
func checkPrompt(p *pipeline.Pipeline, prompt wire.Raw) *wire.DecodeError {
	id, version := promptName(prompt)
	if p == nil || p.Prompts == nil {
		return &wire.DecodeError{
			Code: codePrompt, Param: "prompt.id",
			Message: "this server keeps no prompts: give the text of prompt \"" + id + "\" as instructions",
		}
	}
	known, ok := p.Prompts[id]
	switch {
	case !ok:
		return &wire.DecodeError{Code: codePrompt, Param: "prompt.id", Message: "this server has no prompt \"" + id + "\""}
	case version != "" && version != known.Version:
		return &wire.DecodeError{
			Code: codePrompt, Param: "prompt.version",
			Message: "this server has version \"" + known.Version + "\" of prompt \"" + id + "\": ask for that, or leave version out",
		}
	}
	return nil
}

// promptName reads the id and version of a prompt setting; version is "" when it gives none.
func promptName(prompt wire.Raw) (id, version string) {
	if v, ok := prompt.Field("id"); ok {
		id, _ = v.Text()
	}
	if v, ok := prompt.Field("version"); ok {
		version, _ = v.Text()
	}
	return id, version
}

// promptText returns the text of a prompt with its variables filled in. It is "" when prompt is nil.
func promptText(p *pipeline.Pipeline, prompt wire.Raw) string {
	if prompt == nil {
		return ""
	}
	id, _ := promptName(prompt)
	text := p.Prompts[id].Text
	variables, _ := prompt.Field("variables")
	var pairs []string
	variables.Members(func(name string, value wire.Raw) bool {
		said, isText := value.Text()
		if !isText { // otherwise it is {"type":"input_text","text":…}
			part, _ := value.Field("text")
			said, _ = part.Text()
		}
		pairs = append(pairs, "{{"+name+"}}", said)
		return true
	})
	return strings.NewReplacer(pairs...).Replace(text)
}

// Instructions returns the instructions of a response that p asks for; p is nil for a response to a turn. The first that is
// given counts: the response's instructions, the response's prompt, the session's instructions, the session's prompt.
func (s *Settings) Instructions(p *wire.ResponseParams) string {
	switch {
	case p != nil && p.Instructions != nil:
		return *p.Instructions
	case p != nil && p.Prompt != nil:
		return promptText(s.pipeline, p.Prompt)
	case s.current.Instructions != "":
		return s.current.Instructions
	}
	return promptText(s.pipeline, s.current.Prompt)
}
