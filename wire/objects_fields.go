package wire

func (e *Error) fields(c *codec) {
	c.str("type", &e.Type, always)
	c.str("code", &e.Code, always)
	c.str("message", &e.Message, always)
	c.strOrNull("param", &e.Param)
	c.strOrNull("event_id", &e.EventID)
}

func (e *TranscriptionError) fields(c *codec) {
	c.str("type", &e.Type, always)
	c.str("code", &e.Code, always)
	c.str("message", &e.Message, always)
	c.strOrNull("param", &e.Param)
}

func (u *TranscriptionUsage) fields(c *codec) {
	c.str("type", &u.Type, always)
	if !c.writing || u.Type == "duration" {
		c.float("seconds", &u.Seconds, always)
	}
	if !c.writing || u.Type == "tokens" {
		c.int("total_tokens", &u.TotalTokens, always)
		c.int("input_tokens", &u.InputTokens, always)
		c.int("output_tokens", &u.OutputTokens, always)
		object(c, "input_token_details", &u.InputTokenDetails, always)
	}
}

func (d *TranscriptionTokenDetails) fields(c *codec) {
	c.int("text_tokens", &d.TextTokens, always)
	c.int("audio_tokens", &d.AudioTokens, always)
}

func (v *Conversation) fields(c *codec) {
	c.str("id", &v.ID, always)
	c.constant("object", &v.Object, "realtime.conversation")
}

func (r *RateLimit) fields(c *codec) {
	c.str("name", &r.Name, always)
	c.int("limit", &r.Limit, always)
	c.int("remaining", &r.Remaining, always)
	c.float("reset_seconds", &r.ResetSeconds, always)
}
