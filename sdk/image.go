package sdk

// Pictures that the user shows the agent.

import (
	"strconv"
	"strings"
)

// SendImage shows the agent a picture: a data URL of a PNG or JPEG ("data:image/png;base64,…") of at most Limits.ImageBytes.
// With text it asks for an answer, as SendText does. Without text, the agent has the picture for what the user says or writes
// next. Errors: ErrNotConnected, ErrInvalid. If the server takes no pictures, the entry of the message has a Note.
func (s *Session) SendImage(image, text string) error {
	switch {
	case !strings.HasPrefix(image, "data:image/png;base64,") && !strings.HasPrefix(image, "data:image/jpeg;base64,"):
		return &Error{Kind: ErrInvalid, Detail: "the picture is no data URL of a PNG or JPEG: read the file as one, and convert other kinds"}
	case len(image) > s.limits.ImageBytes:
		return &Error{Kind: ErrInvalid, Detail: "the picture is longer than " + strconv.Itoa(s.limits.ImageBytes) + " bytes as a data URL: make it smaller"}
	case len(text) > s.limits.EntryBytes:
		return &Error{Kind: ErrInvalid, Detail: "the message is too long"}
	}
	return s.act(func() { s.sendMessage(image, text) }, true)
}
