package rtc

import "errors"

// Errors of Engine.Answer. They come wrapped, with text that tells the caller what to change.
var (
	// ErrBadSDP: the offer cannot be read, or asks for what a call cannot be.
	ErrBadSDP = errors.New("bad SDP offer")
	// ErrNoAudio: the offer has no audio section with Opus that could be answered.
	ErrNoAudio = errors.New("no audio in the SDP offer")
)

// Errors of a Peer, from Send or through Handler.Failed.
var (
	// ErrClosed: the peer or the engine was closed on this side.
	ErrClosed = errors.New("call is closed")
	// ErrTooLarge: an event exceeds what the client takes as one message. The call goes on.
	ErrTooLarge = errors.New("event is larger than the client accepts")
	// ErrBackpressure: the client does not read its events, and the queue is full. The call has failed.
	ErrBackpressure = errors.New("client does not read its events")
	// ErrMessageTooLarge: the client sent a message above the limit. The call has failed.
	ErrMessageTooLarge = errors.New("client sent a message above the limit")
	// ErrHungUp: the client closed the call or the data channel.
	ErrHungUp = errors.New("client hung up")
	// ErrUnreachable: no path to the client was found, or it was lost for good.
	ErrUnreachable = errors.New("client cannot be reached")
)
