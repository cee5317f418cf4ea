package wire

// This file has responses and the parameters of response.create.

// Response is a response object. All of its keys are written, null where a field here is nil.
type Response struct {
	ID string
	// Object is always written as "realtime.response".
	Object string
	// Status is "in_progress", "completed", "cancelled", "failed" or "incomplete".
	Status string
	// StatusDetails is nil for a response in progress or completed.
	StatusDetails *StatusDetails
	Output        []Item
	// ConversationID is nil for a response outside the default conversation.
	ConversationID   *string
	OutputModalities []string
	MaxOutputTokens  MaxTokens
	// Audio is left out when nil.
	Audio *ResponseAudio
	// Usage is nil until the response is done.
	Usage *Usage
	// Metadata is the object that the client gave, nil if it gave none.
	Metadata Raw
}

// StatusDetails says why a response has its status.
type StatusDetails struct {
	// Type is the status of the response.
	Type string
	// Reason is "turn_detected", "client_cancelled", "max_output_tokens" or "content_filter"; left out when empty.
	Reason string
	// Error is left out when nil.
	Error *StatusError
}

// StatusError is the error of a failed response.
type StatusError struct {
	Type string
	Code string
}

// ResponseAudio is audio.output of a response: an empty Format.Type or Voice is left out.
type ResponseAudio struct {
	Format Format
	Voice  string
}

// ResponseParams are the parameters of one response. For an absent one the value of the session is used.
type ResponseParams struct {
	// Instructions is nil if absent.
	Instructions *string
	// OutputModalities is nil if absent, otherwise ["audio"] or ["text"].
	OutputModalities []string
	// Audio is nil if absent.
	Audio *ResponseAudio
	// Tools replaces the session's tools when HasTools is set.
	Tools    []Tool
	HasTools bool
	// ToolChoice is nil if absent, otherwise as in Session.
	ToolChoice Raw
	// ParallelToolCalls is nil if absent.
	ParallelToolCalls *bool
	// Conversation is "auto", "none", or "" if absent, which means auto.
	Conversation string
	// Input replaces the conversation as the model's input when HasInput is set.
	Input    []Item
	HasInput bool
	// MaxOutputTokens is nil if absent.
	MaxOutputTokens *MaxTokens
	// Prompt is nil if absent, otherwise an object.
	Prompt Raw
	// Metadata is nil if absent, otherwise an object that the response carries back.
	Metadata Raw
}

// Usage counts the tokens of a response.
type Usage struct {
	TotalTokens        int
	InputTokens        int
	OutputTokens       int
	InputTokenDetails  InputTokenDetails
	OutputTokenDetails OutputTokenDetails
}

// InputTokenDetails divides the input tokens by kind.
type InputTokenDetails struct {
	TextTokens          int
	AudioTokens         int
	ImageTokens         int
	CachedTokens        int
	CachedTokensDetails CachedTokensDetails
}

// CachedTokensDetails divides the cached tokens by kind.
type CachedTokensDetails struct {
	TextTokens  int
	AudioTokens int
	ImageTokens int
}

// OutputTokenDetails divides the output tokens by kind.
type OutputTokenDetails struct {
	TextTokens  int
	AudioTokens int
}
