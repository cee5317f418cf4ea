package session

import (
	"bytes"
	"fmt"
	"slices"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// typeTranscription is the type of a session that only writes down what it hears.
const typeTranscription = "transcription"

// coordConfig is what of the settings decides transitions.
func coordConfig(set *wire.Session) coord.Config {
	td := set.Audio.Input.TurnDetection
	if td == nil || set.Type == typeTranscription {
		return coord.Config{}
	}
	return coord.Config{Interrupt: td.InterruptResponse, CreateResponse: td.CreateResponse}
}

// SettingsFor merges patch, a session object, into set. What the protocol allows and this server, with its pipeline p, does
// not do is refused or comes back as null, never ignored: the error, a *wire.DecodeError, says what to ask instead. On an
// error set is as it was. As long as set has no ID it is not a session's yet, and patch may choose its type. A nil p is one
// without prompts and probabilities, which can do everything else.
func SettingsFor(p *pipeline.Pipeline, set *wire.Session, patch wire.Raw) error {
	next := set.Clone()
	if kind, ok := patch.Field("type"); ok && set.ID == "" {
		if word, _ := kind.Text(); word == typeTranscription && set.Type != typeTranscription {
			next = Transcribing(*set)
		}
	}
	kind := next.Type
	if err := next.Merge(patch); err != nil {
		return err
	}
	if next.Type != kind {
		return refused("type", "a session's type cannot be changed: this one is of type \""+kind+"\"; open another session")
	}
	if err := beta(patch); err != nil {
		return err
	}
	if err := settle(p, set, &next, patch); err != nil {
		return err
	}
	next.ID, next.Object, next.ExpiresAt = set.ID, set.Object, set.ExpiresAt
	*set = next
	return nil
}

// settle checks what was merged into next and gives back as null what there is not.
func settle(p *pipeline.Pipeline, set, next *wire.Session, patch wire.Raw) error {
	next.Audio.Input.NoiseReduction = nil
	if err := modest(p, next.Audio.Input.Transcription); err != nil {
		return refused("audio.input.transcription", err.Error())
	}
	for _, name := range next.Include {
		if name != wire.IncludeLogprobs {
			return refused("include", "want only \""+wire.IncludeLogprobs+"\"")
		}
	}
	if !hasLogprobs(p) {
		next.Include = nil
	}
	if next.Type == typeTranscription {
		return settleTranscription(next, patch)
	}
	if i := twice(next.Tools); i >= 0 {
		return refused(fmt.Sprintf("tools[%d].name", i), sameName(next.Tools[i].Name))
	}
	next.Tools = slices.DeleteFunc(next.Tools, func(t wire.Tool) bool { return t.Type != "function" })
	if next.Audio.Output.Voice != set.Audio.Output.Voice {
		if err := knownVoice(p, next.Audio.Output.Voice); err != nil {
			return refused("audio.output.voice", err.Error())
		}
	}
	if err := choosable(next.ToolChoice, next.Tools); err != "" {
		return refused("tool_choice", err)
	}
	if _, auto := set.Tracing.Text(); !auto && set.Tracing != nil && next.Tracing != nil && !bytes.Equal(set.Tracing, next.Tracing) {
		return refused("tracing", "tracing that has its names cannot be changed: leave it out, or switch it off with null")
	}
	if next.Prompt != nil && !bytes.Equal(set.Prompt, next.Prompt) {
		if err := knownPrompt(p, next.Prompt); err != nil {
			err.Param = "session." + err.Param
			return err
		}
	}
	return nil
}

func refused(param, message string) *wire.DecodeError {
	return &wire.DecodeError{Code: wire.CodeInvalidValue, Param: "session." + param, Message: message}
}

// modest takes out of tr what makes no difference to the pipeline's recogniser, and refuses what it cannot do.
func modest(p *pipeline.Pipeline, tr *wire.Transcription) error {
	if p == nil || tr == nil {
		return nil
	}
	m, ok := p.Transcriber.(pipeline.Modest)
	if !ok {
		return nil
	}
	c, err := m.CanDo(pipeline.TranscribeConfig{Model: tr.Model, Language: tr.Language, Prompt: tr.Prompt})
	if err == nil {
		*tr = wire.Transcription{Model: c.Model, Language: c.Language, Prompt: c.Prompt}
	}
	return err
}

// knownVoice refuses a voice that the pipeline has not.
func knownVoice(p *pipeline.Pipeline, name string) error {
	if p == nil {
		return nil
	}
	if v, ok := p.Synthesizer.(pipeline.Voiced); ok {
		return v.CheckVoice(name)
	}
	return nil
}

// hasLogprobs: the pipeline's transcripts come with probabilities.
func hasLogprobs(p *pipeline.Pipeline) bool {
	if p == nil {
		return false
	}
	s, ok := p.Transcriber.(pipeline.Scorer)
	return ok && s.Scores()
}

// remoteTools is how many MCP servers a session object names that was found to be right.
func remoteTools(patch wire.Raw) (n int) {
	var asked wire.Session
	if asked.Merge(patch) == nil {
		for _, t := range asked.Tools {
			if t.Type != "function" {
				n++
			}
		}
	}
	return n
}

// twice is the index of the first function whose name another before it has, or -1.
func twice(tools []wire.Tool) int {
	names := make(map[string]bool, len(tools))
	return slices.IndexFunc(tools, func(t wire.Tool) bool {
		if t.Type != "function" {
			return false
		}
		had := names[t.Name]
		names[t.Name] = true
		return had
	})
}

func sameName(name string) string {
	return "there are two functions \"" + name + "\", and a call could mean either: give one of them another name"
}

// choosable says what is wrong with a tool_choice among tools, or "".
func choosable(choice wire.Raw, tools []wire.Tool) string {
	if _, word := choice.Text(); word || choice == nil {
		return ""
	}
	if kind, _ := choice.Field("type"); string(kind) != `"function"` {
		return "this server has tools of type \"function\" only: want \"auto\", \"none\", \"required\" or {\"type\":\"function\",\"name\":…}"
	}
	name := toolChoice(choice)
	if !slices.ContainsFunc(tools, func(t wire.Tool) bool { return t.Name == name }) {
		return "there is no function \"" + name + "\" among the tools: choose one of them, or give it in the same event"
	}
	return ""
}

// toolChoice is the protocol's tool_choice as a model reads it.
func toolChoice(raw wire.Raw) string {
	if mode, ok := raw.Text(); ok {
		return mode
	}
	if field, ok := raw.Field("name"); ok {
		if name, ok := field.Text(); ok {
			return name
		}
	}
	return "auto"
}
