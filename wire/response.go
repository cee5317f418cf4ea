package wire

// Response is a response object. All of its keys are written, null where a field here is nil.
type Response struct {
	ID string
	// Object is always written as "realtime.response", whatever stands here.
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
	// Metadata is the client's own object, nil when it gave none.
	Metadata Raw
}

// StatusDetails says why a response ended as it did.
type StatusDetails struct {
	// Type is the response's status.
	Type string
	// Reason is "turn_detected", "client_cancelled", "max_output_tokens" or "content_filter"; left out when empty.
	Reason string
	// Error is left out when nil.
	Error *StatusError
}

// StatusError is what made a response fail.
type StatusError struct {
	Type string
	Code string
}

// ResponseAudio is audio.output of a response: an empty Format.Type or Voice is left out.
type ResponseAudio struct {
	Format Format
	Voice  string
}

// ResponseParams is what a client asks of one response; what is absent comes from the session.
type ResponseParams struct {
	// Instructions is nil when absent.
	Instructions *string
	// OutputModalities is nil when absent, else ["audio"] or ["text"].
	OutputModalities []string
	// Audio is nil when absent.
	Audio *ResponseAudio
	// Tools replaces the session's tools when HasTools is set.
	Tools    []Tool
	HasTools bool
	// ToolChoice is nil when absent, else as in Session.
	ToolChoice Raw
	// ParallelToolCalls is nil when absent.
	ParallelToolCalls *bool
	// Conversation is "auto", "none", or "" when absent, which means auto.
	Conversation string
	// Input replaces the conversation as the model's input when HasInput is set.
	Input    []Item
	HasInput bool
	// MaxOutputTokens is nil when absent.
	MaxOutputTokens *MaxTokens
	// Prompt is nil when absent, else an object.
	Prompt Raw
	// Metadata is nil when absent, else an object that the response carries back.
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
