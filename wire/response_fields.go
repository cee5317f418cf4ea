package wire

func (r *Response) fields(c *codec) {
	c.constant("object", &r.Object, "realtime.response")
	c.str("id", &r.ID, always)
	c.str("status", &r.Status, always)
	optional(c, "status_details", &r.StatusDetails, StatusDetails{}, orNull)
	list(c, "output", &r.Output, always)
	c.strOrNull("conversation_id", &r.ConversationID)
	c.strs("output_modalities", &r.OutputModalities, always)
	c.maxTokens(&r.MaxOutputTokens)
	optional(c, "audio", &r.Audio, ResponseAudio{}, omitEmpty)
	optional(c, "usage", &r.Usage, Usage{}, orNull)
	c.rawObject("metadata", &r.Metadata, orNull)
}

func (s *StatusDetails) fields(c *codec) {
	c.str("type", &s.Type, always)
	c.str("reason", &s.Reason, omitEmpty)
	optional(c, "error", &s.Error, StatusError{}, omitEmpty)
}

func (e *StatusError) fields(c *codec) {
	c.str("type", &e.Type, always)
	c.str("code", &e.Code, always)
}

func (a *ResponseAudio) fields(c *codec) { object(c, "output", (*responseOutput)(a), always) }

// responseOutput is the inner object of a ResponseAudio.
type responseOutput ResponseAudio

func (o *responseOutput) fields(c *codec) {
	if !c.writing || o.Format.Type != "" {
		object(c, "format", &o.Format, always)
	}
	c.voice(&o.Voice, omitEmpty)
}

func (p *ResponseParams) fields(c *codec) {
	c.strOrAbsent("instructions", &p.Instructions)
	if c.strs("output_modalities", &p.OutputModalities, omitEmpty) {
		c.check(oneModality(p.OutputModalities), "output_modalities", `want ["audio"] or ["text"]`)
	}
	optional(c, "audio", &p.Audio, ResponseAudio{}, omitEmpty)
	if !c.writing || p.HasTools {
		if tools(c, &p.Tools) {
			p.HasTools = true
		}
	}
	toolChoice(c, &p.ToolChoice, omitEmpty)
	optionalScalar(c, &p.ParallelToolCalls, func(v *bool) bool { return c.bool("parallel_tool_calls", v, always) })
	if c.str("conversation", &p.Conversation, omitEmpty) {
		c.check(p.Conversation == "auto" || p.Conversation == "none", "conversation", `want "auto" or "none"`)
	}
	if !c.writing || p.HasInput {
		if list(c, "input", &p.Input, always) {
			p.HasInput = true
		}
	}
	optionalScalar(c, &p.MaxOutputTokens, c.maxTokens)
	c.rawObject("prompt", &p.Prompt, omitEmpty)
	c.rawObject("metadata", &p.Metadata, omitEmpty)
}

// strOrAbsent carries a string that is left out when nil.
func (c *codec) strOrAbsent(name string, p **string) {
	optionalScalar(c, p, func(v *string) bool { return c.str(name, v, always) })
}

// optionalScalar carries a value that is left out when nil.
func optionalScalar[T any](c *codec, p **T, carry func(*T) bool) {
	if c.writing {
		if *p != nil {
			carry(*p)
		}
		return
	}
	var v T
	if carry(&v) {
		*p = &v
	}
}

func (u *Usage) fields(c *codec) {
	c.int("total_tokens", &u.TotalTokens, always)
	c.int("input_tokens", &u.InputTokens, always)
	c.int("output_tokens", &u.OutputTokens, always)
	object(c, "input_token_details", &u.InputTokenDetails, always)
	object(c, "output_token_details", &u.OutputTokenDetails, always)
}

func (d *InputTokenDetails) fields(c *codec) {
	c.int("text_tokens", &d.TextTokens, always)
	c.int("audio_tokens", &d.AudioTokens, always)
	c.int("image_tokens", &d.ImageTokens, always)
	c.int("cached_tokens", &d.CachedTokens, always)
	object(c, "cached_tokens_details", &d.CachedTokensDetails, always)
}

func (d *CachedTokensDetails) fields(c *codec) {
	c.int("text_tokens", &d.TextTokens, always)
	c.int("audio_tokens", &d.AudioTokens, always)
	c.int("image_tokens", &d.ImageTokens, always)
}

func (d *OutputTokenDetails) fields(c *codec) {
	c.int("text_tokens", &d.TextTokens, always)
	c.int("audio_tokens", &d.AudioTokens, always)
}
