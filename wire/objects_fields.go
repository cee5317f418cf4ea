package wire

// This file has the fields of the small objects.

func (e *Error) fields(c *codec) {
	c.bind("type code message param~ event_id~", &e.Type, &e.Code, &e.Message, &e.Param, &e.EventID)
}

func (e *TranscriptionError) fields(c *codec) {
	c.bind("type code message param~", &e.Type, &e.Code, &e.Message, &e.Param)
}

func (u *TranscriptionUsage) fields(c *codec) {
	spec := "type seconds total_tokens input_tokens output_tokens input_token_details"
	if c.mode == writing && u.Type == "duration" {
		spec = "type seconds - - - -"
	} else if c.mode == writing {
		spec = "type - total_tokens input_tokens output_tokens input_token_details"
	}
	c.bind(spec, &u.Type, &u.Seconds, &u.TotalTokens, &u.InputTokens, &u.OutputTokens, &u.InputTokenDetails)
}

func (d *TranscriptionTokenDetails) fields(c *codec) {
	c.bind("text_tokens audio_tokens", &d.TextTokens, &d.AudioTokens)
}

func (v *Conversation) fields(c *codec) { c.bind("id object=realtime.conversation", &v.ID, &v.Object) }

func (r *RateLimit) fields(c *codec) {
	c.bind("name limit remaining reset_seconds", &r.Name, &r.Limit, &r.Remaining, &r.ResetSeconds)
}
