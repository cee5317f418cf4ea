package session

import (
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// codePrompt is the code of an error that refuses a prompt.
const codePrompt = "prompt_not_found"

// knownPrompt refuses a prompt that the pipeline has not. The error's Param begins with "prompt".
func knownPrompt(p *pipeline.Pipeline, prompt wire.Raw) *wire.DecodeError {
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

func promptName(prompt wire.Raw) (id, version string) {
	if v, ok := prompt.Field("id"); ok {
		id, _ = v.Text()
	}
	if v, ok := prompt.Field("version"); ok {
		version, _ = v.Text()
	}
	return id, version
}

// promptText is the prompt with its variables filled in; "" when there is none.
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
		if !isText { // or {"type":"input_text","text":…}
			part, _ := value.Field("text")
			said, _ = part.Text()
		}
		pairs = append(pairs, "{{"+name+"}}", said)
		return true
	})
	return strings.NewReplacer(pairs...).Replace(text)
}
