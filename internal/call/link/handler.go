package link

import "github.com/antiphon-rt/antiphon/internal/voice"

// The Handler: what a transport calls when something happens on it.

// Handler receives what happens on a transport. The transport calls its methods from its own goroutines, one call at a time
// for each method, and never after its Close has returned. The methods return soon. A method must not wait for Close to
// return in another goroutine; a method that calls Close itself is fine.
type Handler interface {
	// Opened reports that events flow. Over WebRTC the client's data channel is open; for an offer without a data channel
	// Opened is called when the media connects, and events are dropped.
	Opened()
	// Message brings one message of the client. text is false for a binary message. data is valid only during the call.
	Message(data []byte, text bool)
	// Audio brings the client's audio: mono, 24 kHz, in order, gaps filled, in pieces of 2.5 to 120 ms (as a rule 20 ms).
	// pcm is valid only during the call.
	Audio(pcm []int16)
	// Missing stands for samples of Audio of which no packet has arrived in time. The client was not silent: nobody knows what it
	// said. Audio that is late follows all the same.
	Missing(samples int)
	// Lost reports that the client cannot be reached at the moment.
	Lost()
	// Restored follows Lost when the client can be reached again.
	Restored()
	// Failed reports that the call is over, and why: err wraps one of this package's errors. It is called at most once, and
	// never after this side began to close the transport. The transport must still be closed.
	Failed(err error)
	// Sent reports that one frame of the response has gone out, in segment gen. sent is the position in the response after
	// that frame: the number of samples sent so far, the same figure as Output.Sent. first is true for the first frame
	// since the response's Begin, and for the first one after a silence or a Resume.
	Sent(gen uint64, sent voice.Samples, first bool)
	// Drained reports that segment gen has been sent to its end: End was called and nothing is left. It follows the Sent of
	// the last frame, once for each segment, and is not called for a segment that was held, replaced or dropped before.
	Drained(gen uint64)
}
