package wire

// This file has the fields of the session object and the checks of their values.

func (s *Session) fields(c *codec) {
	const common = "model output_modalities instructions max_output_tokens audio tools tool_choice parallel_tool_calls tracing~ prompt~ " +
		"include~ truncation"
	spec := "type object=realtime.session id expires_at " + common
	var audio fielder = &s.Audio
	switch {
	case c.mode == writing && s.Type == "transcription":
		spec = "type object=realtime.transcription_session id expires_at - - - - audio - - - - - include~ -"
		audio = (*inputOnly)(&s.Audio)
	case c.merge: // fields that only the server sets are skipped
		spec = "type - - - " + common
	}
	c.bind(spec, &s.Type, &s.Object, &s.ID, &s.ExpiresAt,
		&s.Model, &s.OutputModalities, &s.Instructions, &s.MaxOutputTokens, audio, &s.Tools, &s.ToolChoice, &s.ParallelToolCalls, &s.Tracing,
		(*rawObject)(&s.Prompt), &s.Include, &s.Truncation)
}

func (s *Session) check(c *codec, field string) {
	switch field {
	case "type":
		c.oneOf(s.Type, field, "realtime|transcription")
	case "output_modalities":
		c.modality(s.OutputModalities)
	case "max_output_tokens":
		c.maxTokens(s.MaxOutputTokens)
	case "tools":
		c.tools(s.Tools)
	case "tool_choice":
		c.toolChoice(s.ToolChoice)
	case "tracing":
		c.tracing(s.Tracing)
	case "prompt":
		c.prompt(s.Prompt)
	case "truncation":
		c.ensure(validTruncation(s.Truncation), field,
			`want "auto", "disabled" or an object of type retention_ratio with a retention_ratio of 0 to 1`)
		c.ensure(validTokenLimits(s.Truncation), "truncation.token_limits", "want an object with post_instructions, a whole number from 1 on")
	}
}

// inputOnly is the audio object of a transcription session.
type inputOnly SessionAudio

func (a *inputOnly) fields(c *codec) { c.bind("input", &a.Input) }

func (a *SessionAudio) fields(c *codec) { c.bind("input output", &a.Input, &a.Output) }

func (a *AudioInput) fields(c *codec) {
	c.bind("format transcription~ noise_reduction~ turn_detection~", &a.Format, &a.Transcription, &a.NoiseReduction, &a.TurnDetection)
}

func (a *AudioOutput) fields(c *codec) {
	c.bind("format voice speed", &a.Format, (*voice)(&a.Voice), &a.Speed)
}

func (a *AudioOutput) check(c *codec, field string) {
	if field == "speed" {
		c.ensure(a.Speed >= 0.25 && a.Speed <= 1.5, field, "want 0.25 to 1.5")
	}
}

// voice is the name of a synthesis voice. A reader also accepts an object with its id.
type voice string

type voiceObject voice

func (v *voiceObject) fields(c *codec) { c.bind("id!", (*string)(v)) }

func (f *Format) fields(c *codec) {
	spec := "type rate"
	if c.mode == writing && f.Type != FormatPCM {
		spec = "type -"
	}
	c.bind(spec, &f.Type, &f.Rate)
	if c.mode == reading && c.err == nil && !c.saw("rate") {
		f.Rate = f.fixedRate()
	}
}

// fixedRate returns the sample rate that the protocol defines for the format.
func (f *Format) fixedRate() int {
	if f.Type == FormatPCM {
		return 24000
	}
	return 8000
}

func (f *Format) check(c *codec, field string) {
	switch field {
	case "type":
		c.oneOf(f.Type, field, "audio/pcm|audio/pcmu|audio/pcma")
	case "":
		c.ensure(f.Rate == f.fixedRate() || !c.saw("rate"), "rate", "want 24000 for audio/pcm, 8000 for the others")
	}
}

func (t *Transcription) fields(c *codec) {
	c.bind("model? language? prompt?", &t.Model, &t.Language, &t.Prompt)
}

func (n *NoiseReduction) fields(c *codec) { c.bind("type", &n.Type) }

func (n *NoiseReduction) check(c *codec, field string) {
	switch field {
	case "type":
		c.oneOf(n.Type, field, NearField+"|"+FarField)
	case "":
		c.need(n.Type != "", "type")
	}
}

func (t *TurnDetection) fields(c *codec) {
	spec := "type threshold prefix_padding_ms silence_duration_ms idle_timeout_ms~ eagerness create_response interrupt_response"
	switch {
	case c.mode != writing:
	case t.Type == SemanticVAD:
		spec = "type - - - - eagerness create_response interrupt_response"
	default:
		spec = "type threshold prefix_padding_ms silence_duration_ms idle_timeout_ms~ - create_response interrupt_response"
	}
	c.bind(spec, &t.Type, &t.Threshold, &t.PrefixPaddingMS, &t.SilenceDurationMS, &t.IdleTimeoutMS, &t.Eagerness,
		&t.CreateResponse, &t.InterruptResponse)
	if t.Type == SemanticVAD && t.Eagerness == "" && c.mode == reading {
		t.Eagerness = "auto"
	}
}

// Limits of the times of TurnDetection, in milliseconds. The protocol limits only the idle timeout.
const (
	maxPaddingMS     = 10_000
	maxSilenceMS     = 30_000
	minIdleTimeoutMS = 5_000
	maxIdleTimeoutMS = 30_000
)

func (t *TurnDetection) check(c *codec, field string) {
	switch field {
	case "type":
		c.oneOf(t.Type, field, "server_vad|semantic_vad")
	case "threshold":
		c.ensure(t.Threshold >= 0 && t.Threshold <= 1, field, "want 0 to 1")
	case "prefix_padding_ms":
		c.between(t.PrefixPaddingMS, 0, maxPaddingMS, field)
	case "silence_duration_ms":
		c.between(t.SilenceDurationMS, 0, maxSilenceMS, field)
	case "idle_timeout_ms":
		if t.IdleTimeoutMS != nil {
			c.between(*t.IdleTimeoutMS, minIdleTimeoutMS, maxIdleTimeoutMS, field)
		}
	case "eagerness":
		c.oneOf(t.Eagerness, field, "low|medium|high|auto")
	}
}

func (t *Tool) fields(c *codec) {
	if c.mode == writing && t.Type != "function" && t.Config.kind() == '{' && t.Config.Valid() {
		c.writeMembers(t.Config)
		return
	}
	start := c.pos
	c.bind("type! name? description? parameters?", &t.Type, &t.Name, &t.Description, (*rawObject)(&t.Parameters))
	if c.mode == reading && c.err == nil && t.Type != "function" {
		t.Config = keep(c.b[start:c.pos])
	}
}

func (t *Tool) check(c *codec, field string) {
	switch {
	case field == "type":
		c.oneOf(t.Type, field, "function|mcp")
	case field == "" && t.Type == "function":
		c.need(c.saw("name"), "name")
		c.ensure(validToolName(t.Name), "name", "want 1 to 64 letters, digits, _ or -")
	case field == "" && t.Type == "mcp":
		c.need(hasText(c.b[c.start:c.pos], "server_label"), "server_label")
	}
}
