package wire

// Codes of a DecodeError, as they go into the code of an error event.
const (
	// CodeInvalidJSON: the text is not JSON, or is nested deeper than MaxDepth.
	CodeInvalidJSON = "invalid_json"
	// CodeUnknownEvent: the type is none of the protocol's.
	CodeUnknownEvent = "unknown_event"
	// CodeMissingField: a required field is not there.
	CodeMissingField = "missing_field"
	// CodeInvalidType: a value has the wrong JSON type.
	CodeInvalidType = "invalid_type"
	// CodeInvalidValue: a value has the right type and is outside what the protocol allows.
	CodeInvalidValue = "invalid_value"
)

// DecodeError says why a message or a patch was refused.
type DecodeError struct {
	// Code is one of the Code constants.
	Code string
	// Message tells the sender what is wrong and what would be right.
	Message string
	// Param is the path of the field, such as "session.audio.input.turn_detection.threshold"; "" when it is the message itself.
	Param string
	// EventID is the message's event_id where it could be read, else "".
	EventID string
	// Pos is the offset in bytes of the place in the text.
	Pos int
}

// Error implements error.
func (e *DecodeError) Error() string {
	s := "wire: " + e.Code
	if e.Param != "" {
		s += " " + e.Param
	}
	return s + " at byte " + string(appendInt(nil, int64(e.Pos))) + ": " + e.Message
}

// Event is the error event that tells the sender. Its EventID is for the server to set.
func (e *DecodeError) Event() *ErrorEvent {
	report := Error{Type: "invalid_request_error", Code: e.Code, Message: e.Message}
	if e.Param != "" {
		report.Param = &e.Param
	}
	if e.EventID != "" {
		report.EventID = &e.EventID
	}
	return &ErrorEvent{Error: report}
}

// within puts the name of the enclosing field before the path.
func (e *DecodeError) within(name string) {
	switch {
	case e.Param == "" || name == "":
		e.Param = name + e.Param
	case e.Param[0] == '[':
		e.Param = name + e.Param
	default:
		e.Param = name + "." + e.Param
	}
}
