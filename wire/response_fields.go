package wire

// This file has the fields of responses and the checks of their values.

func (r *Response) fields(c *codec) {
	c.bind("object=realtime.response id status status_details~ output conversation_id~ output_modalities max_output_tokens audio? usage~ metadata~",
		&r.Object, &r.ID, &r.Status, &r.StatusDetails, &r.Output, &r.ConversationID, &r.OutputModalities, &r.MaxOutputTokens, &r.Audio,
		&r.Usage, (*rawObject)(&r.Metadata))
}

func (s *StatusDetails) fields(c *codec) { c.bind("type reason? error?", &s.Type, &s.Reason, &s.Error) }

func (e *StatusError) fields(c *codec) { c.bind("type code", &e.Type, &e.Code) }

func (a *ResponseAudio) fields(c *codec) { c.bind("output", (*responseOutput)(a)) }

// responseOutput is the inner object of a ResponseAudio.
type responseOutput ResponseAudio

func (o *responseOutput) fields(c *codec) {
	spec := "format voice?"
	if c.mode == writing && o.Format.Type == "" {
		spec = "- voice?"
	}
	c.bind(spec, &o.Format, (*voice)(&o.Voice))
}

func (p *ResponseParams) fields(c *codec) {
	tools, input := "tools ", "input "
	if c.mode == writing && !p.HasTools {
		tools = "- "
	}
	if c.mode == writing && !p.HasInput {
		input = "- "
	}
	c.bind("instructions? output_modalities? audio? "+tools+"tool_choice? parallel_tool_calls? conversation? "+input+
		"max_output_tokens? prompt? metadata?",
		&p.Instructions, &p.OutputModalities, &p.Audio, &p.Tools, &p.ToolChoice, &p.ParallelToolCalls, &p.Conversation, &p.Input,
		&p.MaxOutputTokens, (*rawObject)(&p.Prompt), (*rawObject)(&p.Metadata))
	if c.mode == reading && c.err == nil {
		p.HasTools, p.HasInput = c.saw("tools"), c.saw("input")
	}
}

func (p *ResponseParams) check(c *codec, field string) {
	switch field {
	case "output_modalities":
		c.modality(p.OutputModalities)
	case "tools":
		c.tools(p.Tools)
	case "tool_choice":
		c.toolChoice(p.ToolChoice)
	case "conversation":
		c.oneOf(p.Conversation, field, "auto|none")
	case "max_output_tokens":
		if p.MaxOutputTokens != nil {
			c.maxTokens(*p.MaxOutputTokens)
		}
	case "prompt":
		c.prompt(p.Prompt)
	case "metadata":
		c.metadata(p.Metadata)
	}
}

func (u *Usage) fields(c *codec) {
	c.bind("total_tokens input_tokens output_tokens input_token_details output_token_details",
		&u.TotalTokens, &u.InputTokens, &u.OutputTokens, &u.InputTokenDetails, &u.OutputTokenDetails)
}

func (d *InputTokenDetails) fields(c *codec) {
	c.bind("text_tokens audio_tokens image_tokens cached_tokens cached_tokens_details",
		&d.TextTokens, &d.AudioTokens, &d.ImageTokens, &d.CachedTokens, &d.CachedTokensDetails)
}

func (d *CachedTokensDetails) fields(c *codec) {
	c.bind("text_tokens audio_tokens image_tokens", &d.TextTokens, &d.AudioTokens, &d.ImageTokens)
}

func (d *OutputTokenDetails) fields(c *codec) {
	c.bind("text_tokens audio_tokens", &d.TextTokens, &d.AudioTokens)
}
