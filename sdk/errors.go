package sdk

// The errors of a session.

import (
	"errors"
	"strconv"
)

// The errors that a session ends or goes on with, to be matched with errors.Is. Each text says what a user can do.
var (
	// ErrNoMicrophone: there is no microphone. The call goes on by text; see Snapshot.MicErr.
	ErrNoMicrophone = errors.New("no microphone was found: plug one in and call again, or type instead")
	// ErrPermission: the user or the system refused the microphone. The call goes on by text; see Snapshot.MicErr.
	ErrPermission = errors.New("the microphone may not be used: allow it for this page (the icon beside the address) and call again, or type instead")
	// ErrMicrophoneBusy: the microphone is there, but cannot be opened.
	ErrMicrophoneBusy = errors.New("the microphone could not be opened: close the program that is using it and call again, or type instead")
	// ErrUnsupported: this browser or this page cannot place a call at all.
	ErrUnsupported = errors.New("this browser cannot place calls: use a current Chrome, Edge, Firefox or Safari, and open the page over https or from localhost")
	// ErrUnavailable: this platform does not support the request.
	ErrUnavailable = errors.New("that is not possible here")
	// ErrServerGone: the server cannot be reached, or the connection to it was lost for good.
	ErrServerGone = errors.New("the server is gone: check that it runs and that the network is up, then call again")
	// ErrServerSilent: the connection stands, but the server did not send an expected event in time.
	ErrServerSilent = errors.New("the server did not answer in time: say or send it again, or call again")
	// ErrOverrun: more happened than the session could take in.
	ErrOverrun = errors.New("the page could not keep up with the server: call again")
	// ErrRefused is what every *RefusedError is.
	ErrRefused = errors.New("the server refused the call")
	// ErrNotConnected: the method needs a call, and there is none.
	ErrNotConnected = errors.New("there is no call: connect first")
	// ErrReconnecting: the connection is lost for the moment, and the request cannot wait until it is back.
	ErrReconnecting = errors.New("the connection is being brought back: wait until it is, then do it again")
	// ErrBegunAnew: the connection was lost, and the server had not kept the conversation. Another one has begun with the words of
	// the transcript. The call goes on.
	ErrBegunAnew = errors.New("the connection was lost, and a new conversation has begun with the words of the old one: say again what the agent does not know")
	// ErrConnected: Connect was called while a call was on.
	ErrConnected = errors.New("there is a call already: close it first")
	// ErrClosed: the session was closed for good, or the call was closed while something waited for it.
	ErrClosed = errors.New("the call was closed")
	// ErrInvalid: an argument or option cannot be used; the wrapping error says which one and why.
	ErrInvalid = errors.New("invalid argument")
)

// Error is one of the sentinels above with details. errors.Is sees both Kind and Cause.
type Error struct {
	// Kind is one of this package's sentinels.
	Kind error
	// Detail is a short English addition such as the name of a device or an option. May be empty.
	Detail string
	// Cause is what the platform said. May be nil.
	Cause error
}

// Error gives the sentinel's text, the detail and the cause.
func (e *Error) Error() string {
	s := e.Kind.Error()
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives Kind and Cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// RefusedError is the server's refusal to take the call.
type RefusedError struct {
	// Status is the HTTP status.
	Status int
	// Message is what the server said, cut at 500 bytes. May be empty.
	Message string
}

// Error says what was refused and what to do.
func (e *RefusedError) Error() string {
	s := ErrRefused.Error() + " with status " + strconv.Itoa(e.Status)
	if e.Message != "" {
		s += ": " + e.Message
	}
	switch e.Status {
	case 401:
		s += " (check the key)"
	case 404:
		s += " (check the server's address)"
	case 429, 503:
		s += " (the server is full: try again in a moment)"
	}
	return s
}

// Unwrap makes every refusal match ErrRefused.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// ServerError is an error event, or the error of a response that failed. The call goes on after it.
type ServerError struct {
	// Type and Code are the protocol's, such as "invalid_request_error" and "invalid_value".
	Type, Code string
	// Message is the server's text, which says what to do.
	Message string
	// Param is the path of the field that is meant. May be empty.
	Param string
}

// Error gives the server's message, or its code when it gave none.
func (e *ServerError) Error() string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Code != "":
		return "the server reported " + e.Code
	case e.Type != "":
		return "the server reported " + e.Type
	}
	return "the server reported an error without a text"
}
