package wire

// This file has the items of the conversation and their content.

// Item types, for Item.Type.
const (
	ItemMessage             = "message"
	ItemFunctionCall        = "function_call"
	ItemFunctionCallOutput  = "function_call_output"
	ItemReference           = "item_reference"
	ItemMCPListTools        = "mcp_list_tools"
	ItemMCPCall             = "mcp_call"
	ItemMCPApprovalRequest  = "mcp_approval_request"
	ItemMCPApprovalResponse = "mcp_approval_response"
)

// Content types, for Content.Type. They differ from the types of a Part.
const (
	ContentInputText   = "input_text"
	ContentInputAudio  = "input_audio"
	ContentInputImage  = "input_image"
	ContentOutputText  = "output_text"
	ContentOutputAudio = "output_audio"
)

// Item is an item of the conversation. Type determines which fields are used; the others are not written.
type Item struct {
	ID string
	// Object is always written as "realtime.item".
	Object string
	Type   string
	// Status is "completed", "incomplete" or "in_progress".
	Status string

	// Role is "user", "assistant" or "system" (message).
	Role string
	// Content is always written for a message, [] when nil.
	Content []Content

	// CallID names a function call (function_call, function_call_output).
	CallID string
	// Name is the name of the function or of the MCP tool (function_call, mcp_call, mcp_approval_request).
	Name string
	// Arguments is a JSON text (function_call, mcp_call, mcp_approval_request).
	Arguments string
	// Output is what a tool returned (function_call_output, mcp_call).
	Output string

	// ServerLabel names the MCP server (mcp_list_tools, mcp_call, mcp_approval_request).
	ServerLabel string
	// Tools is the list of an MCP server's tools, a JSON array (mcp_list_tools).
	Tools Raw
	// Error is the error of the call, or of the list, nil for none (mcp_call, mcp_list_tools).
	Error Raw
	// ApprovalRequestID names the request (mcp_approval_response, mcp_call).
	ApprovalRequestID string
	// Approve is the answer to the request, and Reason says why (mcp_approval_response).
	Approve bool
	Reason  string
}

// Content is one part of a message.
type Content struct {
	Type string
	// Text is the text of an input_text or output_text.
	Text string
	// Transcript is the text of an input_audio or output_audio, nil while it is not known. A server always writes the key for them.
	Transcript *string
	// Audio is the sound of an input_audio or output_audio, in the format of the session; nil if it is not sent.
	Audio []byte
	// ImageURL and Detail belong to an input_image.
	ImageURL string
	Detail   string
}

// Part is the part of a content_part event. Type is "audio" (with Transcript) or "text" (with Text).
type Part struct {
	Type       string
	Text       string
	Transcript string
}
