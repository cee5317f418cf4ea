package wire

func (s *Session) fields(c *codec) {
	if c.str("type", &s.Type, always) {
		c.check(s.Type == "realtime" || s.Type == "transcription", "type", `want "realtime" or "transcription"`)
	}
	if !c.merge {
		s.ownFields(c)
	}
	if c.writing && s.Type == "transcription" {
		transcription := SessionAudio{Input: s.Audio.Input}
		object(c, "audio", (*inputOnly)(&transcription), always)
		c.strs("include", &s.Include, orNull)
		return
	}
	c.str("model", &s.Model, always)
	if c.strs("output_modalities", &s.OutputModalities, always) {
		c.check(oneModality(s.OutputModalities), "output_modalities", `want ["audio"] or ["text"]`)
	}
	c.str("instructions", &s.Instructions, always)
	c.maxTokens(&s.MaxOutputTokens)
	object(c, "audio", &s.Audio, always)
	tools(c, &s.Tools)
	toolChoice(c, &s.ToolChoice, always)
	c.bool("parallel_tool_calls", &s.ParallelToolCalls, always)
	if c.raw("tracing", &s.Tracing, orNull) {
		word, isText := s.Tracing.Text()
		c.check(s.Tracing == nil || s.Tracing.kind() == '{' || isText && word == "auto", "tracing", `want "auto", an object or null`)
	}
	c.rawObject("prompt", &s.Prompt, orNull)
	c.strs("include", &s.Include, orNull)
	if c.raw("truncation", &s.Truncation, always) {
		c.check(validTruncation(s.Truncation), "truncation",
			`want "auto", "disabled" or an object of type retention_ratio with a retention_ratio of 0 to 1`)
	}
}

// ownFields are those that only the server sets; a client's are passed over.
func (s *Session) ownFields(c *codec) {
	name := "realtime.session"
	if s.Type == "transcription" {
		name = "realtime.transcription_session"
	}
	c.constant("object", &s.Object, name)
	c.str("id", &s.ID, always)
	c.int64("expires_at", &s.ExpiresAt, always)
}

// inputOnly is the audio object of a transcription session.
type inputOnly SessionAudio

func (a *inputOnly) fields(c *codec) { object(c, "input", &a.Input, always) }

func (a *SessionAudio) fields(c *codec) {
	object(c, "input", &a.Input, always)
	object(c, "output", &a.Output, always)
}

func (a *AudioInput) fields(c *codec) {
	object(c, "format", &a.Format, always)
	optional(c, "transcription", &a.Transcription, Transcription{}, orNull)
	optional(c, "noise_reduction", &a.NoiseReduction, NoiseReduction{}, orNull)
	optional(c, "turn_detection", &a.TurnDetection, defaultTurnDetection(), orNull)
}

func (a *AudioOutput) fields(c *codec) {
	object(c, "format", &a.Format, always)
	c.voice(&a.Voice, always)
	if c.float("speed", &a.Speed, always) {
		c.check(a.Speed >= 0.25 && a.Speed <= 1.5, "speed", "want 0.25 to 1.5")
	}
}

func (f *Format) fields(c *codec) {
	if c.str("type", &f.Type, always) {
		c.check(f.Type == FormatPCM || f.Type == FormatPCMU || f.Type == FormatPCMA, "type",
			"want audio/pcm, audio/pcmu or audio/pcma")
	}
	rate := c.index
	if !c.writing || f.Type == FormatPCM {
		c.int("rate", &f.Rate, always)
	}
	if !c.ended() {
		return
	}
	want := 8000
	if f.Type == FormatPCM {
		want = 24000
	}
	if !c.has(rate) {
		f.Rate = want
	}
	c.check(f.Rate == want, "rate", "want 24000 for audio/pcm, 8000 for the others")
}

func (t *Transcription) fields(c *codec) {
	c.str("model", &t.Model, omitEmpty)
	c.str("language", &t.Language, omitEmpty)
	c.str("prompt", &t.Prompt, omitEmpty)
}

func (n *NoiseReduction) fields(c *codec) {
	if c.str("type", &n.Type, always) {
		c.check(n.Type == "near_field" || n.Type == "far_field", "type", `want "near_field" or "far_field"`)
	}
}

// Bounds of TurnDetection's times in milliseconds.
const (
	maxPaddingMS     = 10_000
	maxSilenceMS     = 30_000
	minIdleTimeoutMS = 5_000
	maxIdleTimeoutMS = 30_000
)

func (t *TurnDetection) fields(c *codec) {
	if c.str("type", &t.Type, always) {
		c.check(t.Type == ServerVAD || t.Type == SemanticVAD, "type", `want "server_vad" or "semantic_vad"`)
	}
	if !c.writing || t.Type != SemanticVAD {
		t.silenceFields(c)
	}
	if !c.writing || t.Type == SemanticVAD {
		if c.str("eagerness", &t.Eagerness, always) {
			c.check(t.Eagerness == "low" || t.Eagerness == "medium" || t.Eagerness == "high" || t.Eagerness == "auto", "eagerness",
				`want "low", "medium", "high" or "auto"`)
		}
	}
	c.bool("create_response", &t.CreateResponse, always)
	c.bool("interrupt_response", &t.InterruptResponse, always)
}

// silenceFields are those of server_vad.
func (t *TurnDetection) silenceFields(c *codec) {
	if c.float("threshold", &t.Threshold, always) {
		c.check(t.Threshold >= 0 && t.Threshold <= 1, "threshold", "want 0 to 1")
	}
	if c.int("prefix_padding_ms", &t.PrefixPaddingMS, always) {
		c.check(t.PrefixPaddingMS >= 0 && t.PrefixPaddingMS <= maxPaddingMS, "prefix_padding_ms", "want 0 to 10000")
	}
	if c.int("silence_duration_ms", &t.SilenceDurationMS, always) {
		c.check(t.SilenceDurationMS >= 0 && t.SilenceDurationMS <= maxSilenceMS, "silence_duration_ms", "want 0 to 30000")
	}
	if c.intOrNull("idle_timeout_ms", &t.IdleTimeoutMS) {
		c.check(*t.IdleTimeoutMS >= minIdleTimeoutMS && *t.IdleTimeoutMS <= maxIdleTimeoutMS, "idle_timeout_ms",
			"want 5000 to 30000, or null for none")
	}
}

func (t *Tool) fields(c *codec) {
	if c.writing && t.Type != "function" && t.Config.kind() == '{' && t.Config.Valid() {
		c.writeMembers(t.Config)
		return
	}
	c.str("type", &t.Type, required)
	c.str("name", &t.Name, omitEmpty)
	c.str("description", &t.Description, omitEmpty)
	c.rawObject("parameters", &t.Parameters, omitEmpty)
	if !c.ended() {
		return
	}
	switch t.Type {
	case "function":
		c.need(t.Name != "", "name")
		c.check(validToolName(t.Name), "name", "want 1 to 64 letters, digits, _ or -")
	case "mcp":
		label := c.scanner.b[c.start:c.pos]
		c.need(hasText(label, "server_label"), "server_label")
		t.Config = keep(label)
	default:
		c.check(false, "type", `want "function" or "mcp"`)
		t.Config = keep(c.b[c.start:c.pos])
	}
}
