package conversation

// Merging a patch into a session object, and refusing what this server and its pipeline do not do.

import (
	"bytes"

	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Merge merges patch, a session object, into set. A setting that the protocol allows and this server with its pipeline p does not support is refused or comes back as null; it is
// never ignored. The error is a *wire.DecodeError and says what to ask for instead; on an error set is unchanged. While set has no ID no session has it yet, and patch may choose
// its type. servers are the MCP servers that a session may use; nil has none of the operator. A nil p has no prompts and no probabilities and supports everything else.
func Merge(p *pipeline.Pipeline, servers *mcp.Directory, set *wire.Session, patch wire.Raw) error {
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
	if bad := checkSettingNames(patch); bad != nil {
		return bad
	}
	if err := checkMerged(p, servers, set, &next, patch); err != nil {
		return err
	}
	next.ID, next.Object, next.ExpiresAt = set.ID, set.Object, set.ExpiresAt
	*set = next
	return nil
}

// checkMerged checks next, which is set with patch merged in, and sets to null what this server does not have.
func checkMerged(p *pipeline.Pipeline, servers *mcp.Directory, set, next *wire.Session, patch wire.Raw) error {
	if !reducesNoise(p) {
		next.Audio.Input.NoiseReduction = nil
	}
	if err := negotiate(p, next.Audio.Input.Transcription); err != nil {
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
		return checkTranscription(next, patch)
	}
	if field, wrong := checkTools(next.Tools, set.Tools, servers); wrong != "" {
		return refused(field, wrong)
	}
	if next.Audio.Output.Voice != set.Audio.Output.Voice {
		if err := checkVoice(p, next.Audio.Output.Voice); err != nil {
			return refused("audio.output.voice", err.Error())
		}
	}
	if err := checkToolChoice(next.ToolChoice, next.Tools); err != "" {
		return refused("tool_choice", err)
	}
	if _, auto := set.Tracing.Text(); !auto && set.Tracing != nil && next.Tracing != nil && !bytes.Equal(set.Tracing, next.Tracing) {
		return refused("tracing", "tracing that has its names cannot be changed: leave it out, or switch it off with null")
	}
	if next.Prompt != nil && !bytes.Equal(set.Prompt, next.Prompt) {
		if err := checkPrompt(p, next.Prompt); err != nil {
			err.Param = "session." + err.Param
			return err
		}
	}
	return nil
}

// refused returns the error for the session's field param.
func refused(param, message string) *wire.DecodeError {
	return &wire.DecodeError{Code: wire.CodeInvalidValue, Param: "session." + param, Message: message}
}

// negotiate removes from tr what makes no difference to the pipeline's recogniser. Its error says what the recogniser cannot do.
func negotiate(p *pipeline.Pipeline, tr *wire.Transcription) error {
	if p == nil || tr == nil {
		return nil
	}
	m, ok := p.Transcriber.(pipeline.ConfigNegotiator)
	if !ok {
		return nil
	}
	c, err := m.NegotiateConfig(pipeline.TranscribeConfig{Model: tr.Model, Language: tr.Language, Prompt: tr.Prompt})
	if err == nil {
		*tr = wire.Transcription{Model: c.Model, Language: c.Language, Prompt: c.Prompt}
	}
	return err
}

// checkVoice refuses a synthesis voice that the pipeline does not have.
func checkVoice(p *pipeline.Pipeline, name string) error {
	if p == nil {
		return nil
	}
	if v, ok := p.Synthesizer.(pipeline.VoiceChecker); ok {
		return v.CheckVoice(name)
	}
	return nil
}

// reducesNoise reports whether the pipeline has noise reduction that works.
func reducesNoise(p *pipeline.Pipeline) bool {
	return p == nil || p.Noise != nil && p.Noise.Component().State == pipeline.StateReady
}

// hasLogprobs reports whether the pipeline's recogniser gives the probabilities of words.
func hasLogprobs(p *pipeline.Pipeline) bool {
	if p == nil {
		return false
	}
	s, ok := p.Transcriber.(pipeline.WordScorer)
	return ok && s.Scores()
}
