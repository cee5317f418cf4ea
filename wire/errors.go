package wire

// This file has the error for an invalid message.

// Codes of a DecodeError. An error event has the same code.
const (
	// CodeInvalidJSON: the text is not JSON, or is nested deeper than MaxDepth.
	CodeInvalidJSON = "invalid_json"
	// CodeUnknownEvent: the protocol has no event with this type.
	CodeUnknownEvent = "unknown_event"
	// CodeMissingField: a required field is missing.
	CodeMissingField = "missing_field"
	// CodeInvalidType: a value has the wrong JSON type.
	CodeInvalidType = "invalid_type"
	// CodeInvalidValue: a value has the right type, and the protocol does not allow it.
	CodeInvalidValue = "invalid_value"
)

// DecodeError says why a message or a patch is invalid.
type DecodeError struct {
	// Code is one of the Code constants.
	Code string
	// Message says what is wrong and what is allowed.
	Message string
	// Param is the path of the field, such as "session.audio.input.turn_detection.threshold"; "" for the message itself.
	Param string
	// EventID is the event_id of the message, "" if it could not be read.
	EventID string
	// Pos is the position of the error in the text, in bytes.
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

// Event returns the error event for the sender. The server sets its EventID.
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

// within adds the name of the enclosing field to the begin of the path.
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
