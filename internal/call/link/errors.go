package link

import "errors"

// The errors that both transports report and the session tells apart.

// Errors of a transport, from Link.Send or through Handler.Failed. They come wrapped, with detail.
var (
	// ErrClosed means that this side has closed the connection.
	ErrClosed = errors.New("call is closed")
	// ErrTooLarge means that an event exceeds what the client takes as one message. The event is not sent; the call goes on.
	ErrTooLarge = errors.New("event is larger than the client accepts")
	// ErrBackpressure means that the client does not read its events and the queue is full. The call has failed.
	ErrBackpressure = errors.New("client does not read its events")
	// ErrMessageTooLarge means that the client sent a message above the limit. The call has failed.
	ErrMessageTooLarge = errors.New("client sent a message above the limit")
	// ErrTooManyPieces means that the client sent its events in more small packets than a client needs. The call has failed.
	ErrTooManyPieces = errors.New("client sends its events in too many small pieces, or faster than the server takes them: send fewer and larger events")
	// ErrHungUp means that the client closed the connection.
	ErrHungUp = errors.New("client hung up")
	// ErrUnreachable means that no path to the client was found, or that the path was lost for good.
	ErrUnreachable = errors.New("client cannot be reached")
)
