package rtc

import "github.com/antiphon-rt/antiphon/voice"

// Handler is told what happens in a call. Its methods are called from the peer's own goroutines
// (the package comment names them), one at a time each, and never after Peer.Close has returned.
// They should return soon. A method must not wait for Peer.Close to return in another goroutine;
// calling Close or Stop itself is fine.
type Handler interface {
	// Opened says that events flow: the client's data channel is open. For an offer without a data
	// channel it is called when the media connects; events are then dropped (see Stats).
	Opened()
	// Message brings one message of the data channel. text is false for a binary one. The data is the
	// callee's only during the call.
	Message(data []byte, text bool)
	// Audio brings the caller's voice: mono, 24 kHz, in order, gaps filled, in pieces of 2.5 to 120 ms
	// (20 ms as a rule). The slice is the callee's only during the call.
	Audio(pcm []int16)
	// Lost says that the client cannot be reached at the moment.
	Lost()
	// Restored follows Lost when the client is back.
	Restored()
	// Failed says that the call is over, and why: one of this package's errors, wrapped. It comes at most
	// once, not after Stop or Close was called, and the peer must still be closed.
	Failed(err error)
	// Sent says that a frame of the reply has gone out, in segment gen. sent is the position in the reply
	// after that frame: all its samples so far, the same figure as Speaker.Sent. first marks the reply's
	// first frame since its Begin.
	Sent(gen uint64, sent voice.Samples, first bool)
	// Drained says that segment gen has been sent to its end: End was called and nothing is left. It
	// comes after the Sent of the last frame, once a segment, and never for a segment that was held,
	// replaced or dropped before its end.
	Drained(gen uint64)
}
