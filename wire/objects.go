package wire

// Error is the payload of an ErrorEvent.
type Error struct {
	// Type is "invalid_request_error" or "server_error".
	Type    string
	Code    string
	Message string
	// Param is the path of the field in question, nil for none.
	Param *string
	// EventID is the event_id of the client event in question, nil for none.
	EventID *string
}

// TranscriptionError is why an item has no transcript.
type TranscriptionError struct {
	Type    string
	Code    string
	Message string
	// Param is the field in question, nil for none.
	Param *string
}

// TranscriptionUsage is what a transcription cost: Type "duration" counts Seconds, "tokens" the tokens.
type TranscriptionUsage struct {
	Type              string
	Seconds           float64
	TotalTokens       int
	InputTokens       int
	OutputTokens      int
	InputTokenDetails TranscriptionTokenDetails
}

// TranscriptionTokenDetails divides the input tokens of a transcription by kind.
type TranscriptionTokenDetails struct {
	TextTokens  int
	AudioTokens int
}

// Conversation names the conversation. Object is always written as "realtime.conversation".
type Conversation struct {
	ID     string
	Object string
}

// RateLimit is one limit: Name is "requests" or "tokens".
type RateLimit struct {
	Name      string
	Limit     int
	Remaining int
	// ResetSeconds is after how many seconds the limit is whole again.
	ResetSeconds float64
}
