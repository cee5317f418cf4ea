package page

// Errors in the form in which the script gets them.

import (
	"errors"
	"strings"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// codes are the names of the client's errors in the script.
var codes = []struct {
	err  error
	code string
}{
	{sdk.ErrNoMicrophone, "no_microphone"},
	{sdk.ErrPermission, "permission_denied"},
	{sdk.ErrMicrophoneBusy, "microphone_busy"},
	{sdk.ErrUnsupported, "unsupported"},
	{sdk.ErrUnavailable, "unavailable"},
	{sdk.ErrServerGone, "server_gone"},
	{sdk.ErrServerSilent, "server_silent"},
	{sdk.ErrOverrun, "overrun"},
	{sdk.ErrReconnecting, "reconnecting"},
	{sdk.ErrBegunAnew, "begun_anew"},
	{sdk.ErrNotConnected, "not_connected"},
	{sdk.ErrConnected, "connected"},
	{sdk.ErrClosed, "closed"},
	{sdk.ErrInvalid, "invalid"},
}

// errorText returns err as the JSON text that writeError writes.
func errorText(err error) string {
	w := new(wire.Writer)
	writeError(w, err)
	return string(w.Bytes())
}

// writeError writes an error as {code, message, remedy, cause}: message says what happened, remedy what the user can do, cause is the
// browser's text. The last two
// may be empty.
func writeError(w *wire.Writer, err error) {
	code, message, remedy := describe(err)
	o := begin(w).text("code", code).text("message", message).text("remedy", remedy)
	if more, ok := errors.AsType[*sdk.Error](err); ok && more.Cause != nil {
		o.text("cause", more.Cause.Error())
	}
	o.end()
}

func describe(err error) (code, message, remedy string) {
	if refused, ok := errors.AsType[*sdk.RefusedError](err); ok {
		return refusal(refused)
	}
	if told, ok := errors.AsType[*sdk.ServerError](err); ok {
		if told.Code != "" {
			return told.Code, told.Error(), ""
		}
		return "server_error", told.Error(), ""
	}
	for _, c := range codes {
		if !errors.Is(err, c.err) {
			continue
		}
		// The text of a client's error is a fact and, after a colon, what to do about it.
		message = c.err.Error()
		if at := strings.IndexByte(message, ':'); at > 0 {
			message, remedy = message[:at], message[at+2:]
		}
		if more, ok := errors.AsType[*sdk.Error](err); ok && more.Detail != "" {
			message += " (" + more.Detail + ")"
		}
		return c.code, message, remedy
	}
	return "failed", err.Error(), ""
}

func refusal(err *sdk.RefusedError) (code, message, remedy string) {
	code, message = "refused", err.Error()
	switch err.Status {
	case 401:
		code = "unauthorized"
	case 429, 503:
		code = "busy"
	case 404:
	default:
		return code, message, ""
	}
	// These texts end with what to do, in parentheses.
	if at := strings.LastIndexByte(message, '('); at > 0 && strings.HasSuffix(message, ")") {
		message, remedy = message[:at-1], message[at+1:len(message)-1]
	}
	return code, message, remedy
}
