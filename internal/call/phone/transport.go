package phone

import "github.com/antiphon-rt/antiphon/internal/call/link"

// The interface between a link and one kind of telephone.

// MaxAhead is the most frames that the far side may have and not have played: 60 ms.
const MaxAhead = 3

// Transport is one telephone call below a Link. The link calls Send and the methods of Queue, Flusher and Marker from one goroutine. None of
// them blocks for longer than a few milliseconds: a write has a deadline of its own.
type Transport interface {
	// Traits are asked once, by NewLink.
	Traits() Traits
	// Send sends a frame of 20 ms: Traits.Rate/50 samples, which are valid only during the call. voiced is false for silence. An error ends
	// the call.
	Send(pcm []int16, voiced bool) error
	// HangUp ends the call on the telephone's side and joins the transport's goroutines. It is called once, also after Link.Ended, and
	// returns within two seconds.
	HangUp()
}

// Traits say how a transport takes audio.
type Traits struct {
	// Rate is the sample rate of the PCM of Send and of Link.Audio, in hertz: 8000, 16000, 24000 or 48000.
	Rate int
	// Ahead is how many frames the far side may have and not have played: 0 to MaxAhead. With 0, Send is called every 20 ms, and gets silence
	// too. Above 0 the far side plays silence by itself.
	Ahead int
}

// Flusher is a Transport whose far side can drop what it has and has not played. That ends a pause, too.
type Flusher interface {
	Flush() error
}

// Queue is a Transport with Traits.Ahead above 0 whose far side can stop to play, and continue later where it stopped.
type Queue interface {
	Flusher
	Pause() error
	Continue() error
}

// Marker is a Transport whose far side says when it has played what it got before a mark. The transport then calls Link.Marked.
type Marker interface {
	Mark(n uint64) error
}

// Handler receives what happens on a telephone. A session is one.
type Handler interface {
	link.Handler
	// Greet has the agent speak first: it says words, or what the model wants to say if words is empty.
	Greet(words string)
	// Digit reports a key of the telephone: 0 to 9, *, #, A to D.
	Digit(digit byte)
	// Progress reports how far a call is that the server places: ringing, answered, busy, and so on, with the status of SIP or 0.
	Progress(state string, status int)
}
