package wire

// This file has small objects of server events.

// Error is the payload of an ErrorEvent.
type Error struct {
	// Type is "invalid_request_error" or "server_error".
	Type    string
	Code    string
	Message string
	// Param is the path of the field that caused the error, nil for none.
	Param *string
	// EventID is the event_id of the client event that caused the error, nil for none.
	EventID *string
}

// TranscriptionError says why an item has no transcript.
type TranscriptionError struct {
	Type    string
	Code    string
	Message string
	// Param is the field that caused the error, nil for none.
	Param *string
}

// TranscriptionUsage is the cost of a transcription: Seconds with the Type "duration", tokens with the Type "tokens".
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
	// ResetSeconds is the number of seconds until the whole limit is available again.
	ResetSeconds float64
}
