package wire

func (i *Item) fields(c *codec) {
	c.str("id", &i.ID, omitEmpty)
	if !c.writing || i.Type != ItemReference {
		c.constant("object", &i.Object, "realtime.item")
	}
	if c.str("type", &i.Type, required) {
		c.check(knownItem(i.Type), "type", `want "message", "function_call", "function_call_output", "item_reference" or an mcp type`)
	}
	c.str("status", &i.Status, omitEmpty)
	switch {
	case !c.writing:
		i.messageFields(c)
		i.callFields(c)
		i.mcpFields(c)
		i.conditions(c)
	case i.Type == ItemMessage:
		i.messageFields(c)
	case i.Type == ItemFunctionCall || i.Type == ItemFunctionCallOutput:
		i.callFields(c)
	default:
		i.mcpFields(c)
	}
}

func knownItem(typ string) bool {
	switch typ {
	case ItemMessage, ItemFunctionCall, ItemFunctionCallOutput, ItemReference,
		ItemMCPListTools, ItemMCPCall, ItemMCPApprovalRequest, ItemMCPApprovalResponse:
		return true
	}
	return false
}

func (i *Item) messageFields(c *codec) {
	if c.str("role", &i.Role, always) {
		c.check(i.Role == "user" || i.Role == "assistant" || i.Role == "system", "role", `want "user", "assistant" or "system"`)
	}
	list(c, "content", &i.Content, always)
}

// callFields also read what an MCP call has under the same names.
func (i *Item) callFields(c *codec) {
	c.str("call_id", &i.CallID, always)
	if !c.writing || i.Type == ItemFunctionCall {
		c.str("name", &i.Name, always)
		c.str("arguments", &i.Arguments, always)
	}
	output := c.index
	if !c.writing || i.Type == ItemFunctionCallOutput {
		c.str("output", &i.Output, always)
	}
	if c.ended() && i.Type == ItemFunctionCallOutput {
		c.need(c.has(output), "output")
	}
}

func (i *Item) mcpFields(c *codec) {
	call := i.Type == ItemMCPCall
	request := i.Type == ItemMCPApprovalRequest
	response := i.Type == ItemMCPApprovalResponse
	if !c.writing || call || request || i.Type == ItemMCPListTools {
		c.str("server_label", &i.ServerLabel, always)
	}
	if c.writing && (call || request) {
		c.str("name", &i.Name, always)
		c.str("arguments", &i.Arguments, always)
	}
	if c.writing && call {
		c.str("output", &i.Output, omitEmpty)
	}
	if !c.writing || call {
		c.raw("error", &i.Error, orNull)
	}
	if !c.writing || i.Type == ItemMCPListTools {
		c.raw("tools", &i.Tools, omitEmpty)
	}
	if !c.writing || call || response {
		c.str("approval_request_id", &i.ApprovalRequestID, omitEmpty)
	}
	if !c.writing || response {
		c.bool("approve", &i.Approve, always)
		c.str("reason", &i.Reason, omitEmpty)
	}
}

// conditions are those between the type and the other fields.
func (i *Item) conditions(c *codec) {
	if !c.ended() {
		return
	}
	switch i.Type {
	case ItemMessage:
		c.need(i.Role != "", "role")
	case ItemFunctionCall:
		c.need(i.Name != "", "name")
	case ItemFunctionCallOutput:
		c.need(i.CallID != "", "call_id")
	case ItemReference:
		c.need(i.ID != "", "id")
	case ItemMCPApprovalResponse:
		c.need(i.ApprovalRequestID != "", "approval_request_id")
	}
}

func (p *Content) fields(c *codec) {
	if c.str("type", &p.Type, required) {
		c.check(knownContent(p.Type), "type",
			`want "input_text", "input_audio", "input_image", "output_text" or "output_audio"`)
	}
	textType := p.Type == ContentInputText || p.Type == ContentOutputText
	audioType := p.Type == ContentInputAudio || p.Type == ContentOutputAudio
	textAt := c.index
	c.str("text", &p.Text, always.unless(c.writing && !textType))
	audioAt := c.index
	c.audio("audio", &p.Audio, omitEmpty)
	switch {
	case !c.writing || p.Transcript != nil || c.server && audioType:
		c.strOrNull("transcript", &p.Transcript)
	}
	c.str("image_url", &p.ImageURL, omitEmpty)
	c.str("detail", &p.Detail, omitEmpty)
	if c.ended() {
		c.need(!textType || c.has(textAt), "text")
		c.need(p.Type != ContentInputAudio || c.has(audioAt), "audio")
		c.need(p.Type != ContentInputImage || p.ImageURL != "", "image_url")
	}
}

func knownContent(typ string) bool {
	switch typ {
	case ContentInputText, ContentInputAudio, ContentInputImage, ContentOutputText, ContentOutputAudio:
		return true
	}
	return false
}

func (p *Part) fields(c *codec) {
	c.str("type", &p.Type, required)
	c.str("text", &p.Text, always.unless(c.writing && p.Type != "text"))
	c.str("transcript", &p.Transcript, always.unless(c.writing && p.Type != "audio"))
}
