package link

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The Link and the Output, through which a session uses a transport, and their optional capabilities.

// Link is a session's connection to its client. The session closes it, once. The interfaces of Capabilities are optional
// additions to it.
type Link interface {
	// Send queues one event and does not block. If sent is not nil, the link's goroutine calls it once the event is on its
	// way. An error other than ErrTooLarge means that the client is lost: the session ends.
	Send(e Event, sent func()) error
	// Output returns what plays the agent's audio, or nil if the client plays the audio by itself (WebSocket).
	Output() Output
	// Close ends the transport and joins its goroutines.
	Close() error
}

// Output plays one response at a time to the far end, in real time. Positions are samples at 24 kHz since Begin. A segment is
// an unbroken run of a response: Begin and Resume each start one, numbered gen, and Handler.Sent and Handler.Drained report
// that number.
type Output interface {
	// Begin starts a new response as segment gen, at position 0. It drops the response before it.
	Begin(gen uint64)
	// Write appends audio to the response: mono, 24 kHz. It copies pcm.
	Write(pcm []int16)
	// End says that the response has no more audio.
	End()
	// Hold stops the response where it is and keeps it. It returns how much was sent.
	Hold() (sent voice.Samples)
	// Resume continues the response at position from, as segment gen.
	Resume(gen uint64, from voice.Samples)
	// Drop ends the response at once and forgets it. It returns how much was sent.
	Drop() (sent voice.Samples)
	// Sent returns how much of the response was sent.
	Sent() voice.Samples
	// Soften plays the response at this gain, above 0, from the next packet on, until Resume or Begin.
	Soften(gain float32)
}

// Timeline is an Output whose packets have RTP timestamps, which a client can name in its reports.
type Timeline interface {
	// FirstSilent returns the timestamp of the first packet of the silence that is being sent. ok is false while a response is
	// being sent.
	FirstSilent() (ts uint32, ok bool)
	// PositionAt returns what a client plays at timestamp ts. ok is false if that is forgotten or not sent yet.
	PositionAt(ts uint32) (p Position, ok bool)
}

// Position is what a client plays when it plays an RTP timestamp.
type Position struct {
	// Gen is the segment that is audible then, or the last one before; 0 is none yet.
	Gen uint64
	// At is how far the response of that segment was played. In the silence after a hold it is where the response stopped. After a
	// Resume of which nothing was sent it is where the response was to continue.
	At voice.Samples
	// Silent reports that nothing is audible then. NextGen and Next are the segment that is audible after this silence and
	// the position in its response at which it begins. NextGen is 0 during speech, and in a silence that has not ended.
	Silent  bool
	NextGen uint64
	Next    voice.Samples
}

// FarEndReader is an Output that keeps the audio that it has sent last, silence included, so that the far end's echo can be found in
// incoming audio. Far-end positions are samples at 24 kHz since the call began.
type FarEndReader interface {
	// FarEndPosition returns how much was sent since the call began.
	FarEndPosition() voice.Samples
	// ReadFarEnd copies the audio sent from far-end position at on into dst. ok is false if that audio is forgotten or not sent yet.
	ReadFarEnd(at voice.Samples, dst []int16) (ok bool)
}

// Receipts is an Output that knows what its client has received.
type Receipts interface {
	// Missed returns where the audio begins that a cut of the network may have lost: the earliest position in the segments from since
	// on that the client has not provably received. ok is false if the client has received all of them. A session calls it once after
	// each Handler.Restored, and after another connection has taken the place of the former.
	Missed(since uint64) (from voice.Samples, ok bool)
}

// CloseExplainer is a Link that can tell its client why it closes.
type CloseExplainer interface {
	Link
	// ExplainClose is called at most once, before Close.
	ExplainClose(why conn.Reason)
}

// Shared is a Link over which side-band controllers receive the session's events, too.
type Shared interface {
	Link
	// SendToPrimary is Send for an event that only the call's client receives.
	SendToPrimary(e Event, sent func()) error
}

// Reconnectable is a Link whose client may come back over another connection. The session has one Link for all of them.
type Reconnectable interface {
	Link
	// DropConnection gives up a connection that has failed. The link keeps sent events until there is another
	// connection. DropConnection does not wait.
	DropConnection()
}

// RoundTripper is a Link that measures the path to its client.
type RoundTripper interface {
	// RoundTrip returns the time to the client and back; 0 while it is not known.
	RoundTrip() time.Duration
}

// Capabilities are the optional interfaces that a link and its output implement; nil for those that they do not.
type Capabilities struct {
	Timeline       Timeline
	FarEndReader   FarEndReader
	Receipts       Receipts
	CloseExplainer CloseExplainer
	Shared         Shared
	Reconnectable  Reconnectable
	RoundTripper   RoundTripper
}

// Resolve returns the capabilities of a link and of its output.
func Resolve(l Link) Capabilities {
	var c Capabilities
	out := l.Output()
	c.Timeline, _ = out.(Timeline)
	c.FarEndReader, _ = out.(FarEndReader)
	c.Receipts, _ = out.(Receipts)
	c.CloseExplainer, _ = l.(CloseExplainer)
	c.Shared, _ = l.(Shared)
	c.Reconnectable, _ = l.(Reconnectable)
	c.RoundTripper, _ = l.(RoundTripper)
	return c
}
