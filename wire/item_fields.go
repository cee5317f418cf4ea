package wire

// This file has the fields of items and the checks of their values.

func (i *Item) fields(c *codec) {
	spec := "id? object type! status? role content call_id name arguments output server_label tools? error~ " +
		"approval_request_id? approve reason?"
	if c.mode == writing {
		spec = i.written()
	}
	c.bind(spec, &i.ID, &i.Object, &i.Type, &i.Status, &i.Role, &i.Content, &i.CallID, &i.Name, &i.Arguments, &i.Output,
		&i.ServerLabel, &i.Tools, &i.Error, &i.ApprovalRequestID, &i.Approve, &i.Reason)
}

// written returns the fields that an item of this type has.
func (i *Item) written() string {
	const head = "id? object=realtime.item type status? "
	switch i.Type {
	case ItemMessage:
		return head + "role content - - - - - - - - - -"
	case ItemFunctionCall:
		return head + "- - call_id name arguments - - - - - - -"
	case ItemFunctionCallOutput:
		return head + "- - call_id - - output - - - - - -"
	case ItemReference:
		return "id - type - - - - - - - - - - - - -"
	case ItemMCPListTools:
		return head + "- - - - - - server_label tools error? - - -"
	case ItemMCPCall:
		return head + "- - - name arguments output~ server_label - error~ approval_request_id~ - -"
	case ItemMCPApprovalRequest:
		return head + "- - - name arguments - server_label - - - - -"
	case ItemMCPApprovalResponse:
		return head + "- - - - - - - - - approval_request_id approve reason?"
	}
	return head + "- - - - - - - - - - - -"
}

func (i *Item) check(c *codec, field string) {
	switch field {
	case "type":
		c.oneOf(i.Type, field, "message|function_call|function_call_output|item_reference|mcp_list_tools|mcp_call|mcp_approval_request|"+
			"mcp_approval_response")
	case "status":
		c.ensure(i.Status == "" || isOneOf(i.Status, "completed|incomplete|in_progress"), field, "want one of: completed|incomplete|in_progress")
	case "role":
		c.oneOf(i.Role, field, "user|assistant|system")
	case "":
		i.checkNeeds(c)
	}
}

// checkNeeds records an error if the item lacks a field that its type requires.
func (i *Item) checkNeeds(c *codec) {
	switch i.Type {
	case ItemMessage:
		c.need(i.Role != "", "role")
		c.need(c.saw("content"), "content")
	case ItemFunctionCall:
		c.need(i.Name != "", "name")
	case ItemFunctionCallOutput:
		c.need(i.CallID != "", "call_id")
		c.need(c.saw("output"), "output")
	case ItemReference:
		c.need(i.ID != "", "id")
	case ItemMCPApprovalResponse:
		c.need(i.ApprovalRequestID != "", "approval_request_id")
		c.need(c.saw("approve"), "approve")
	}
}

func (p *Content) fields(c *codec) {
	spec := "type! text? audio? transcript~ image_url? detail?"
	if c.mode == writing {
		spec = p.written(c.server)
	}
	c.bind(spec, &p.Type, &p.Text, &p.Audio, &p.Transcript, &p.ImageURL, &p.Detail)
}

// written returns the fields that a content of this type has. A client leaves out a transcript that it does not know.
func (p *Content) written(server bool) string {
	switch p.Type {
	case ContentInputText, ContentOutputText:
		return "type text - - - -"
	case ContentInputAudio, ContentOutputAudio:
		if server {
			return "type - audio? transcript~ - -"
		}
		return "type - audio? transcript? - -"
	}
	return "type text? audio? transcript? image_url? detail?"
}

func (p *Content) check(c *codec, field string) {
	switch field {
	case "type":
		c.oneOf(p.Type, field, "input_text|input_audio|input_image|output_text|output_audio")
	case "":
		p.checkNeeds(c)
	}
}

// checkNeeds records an error if the content lacks a field that its type requires.
func (p *Content) checkNeeds(c *codec) {
	switch p.Type {
	case ContentInputText, ContentOutputText:
		c.need(c.saw("text"), "text")
	case ContentInputAudio:
		c.need(p.Audio != nil || p.Transcript != nil, "audio")
	case ContentInputImage:
		c.need(p.ImageURL != "", "image_url")
	}
}

func (p *Part) fields(c *codec) {
	spec := "type! text transcript"
	if c.mode == writing && p.Type == "audio" {
		spec = "type text? transcript"
	} else if c.mode == writing {
		spec = "type text transcript?"
	}
	c.bind(spec, &p.Type, &p.Text, &p.Transcript)
}
