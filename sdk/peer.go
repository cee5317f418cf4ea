package sdk

// What a platform implements: dialers, peers, and the events that peers report.

import "context"

// Dialer places calls on one platform. Implementations: sdk/browser and sdk/native. Safe for concurrent use.
//
// A Dialer may also be a DeviceLister, a PipelineSource and a TimeZoner.
type Dialer interface {
	// Dial places one call: it opens the microphone that c asks for, exchanges descriptions with the server, and returns when the
	// peer has applied the server's answer. The channel for messages may open later (PeerOpened).
	//
	// The peer reports what happens on the call to sink, from any goroutine but in order: also before Dial has returned, and never
	// after Close has returned. A refused or missing microphone is no failure: the call is placed without one, and sink gets
	// MicrophoneFailed. Dial ends early with ctx's error when ctx ends; ctx does not bound the call. Errors: ErrUnsupported,
	// ErrServerGone, *RefusedError.
	Dial(ctx context.Context, c CallConfig, sink func(PeerEvent)) (Peer, error)
}

// CallConfig says how to place a call.
type CallConfig struct {
	// Model to ask for; empty for the server's default.
	Model string
	// Microphone and Speaker are the ids of the devices; empty for the system's default.
	Microphone, Speaker string
	// NoMicrophone places the call to listen only.
	NoMicrophone bool
	// Muted begins with a closed microphone.
	Muted bool
	// Resume names the conversation that the call goes on with; its zero value begins a new one. A server that does not keep the
	// conversation refuses the call. From is the peer that the new one replaces; nil for a new call. The new peer takes over its
	// microphone and, where it plays the sound itself, the sound that it has not played yet. The session closes From after the new
	// peer has taken over, and not before: when a peer leaves, the server ends the conversation.
	Resume Resume
	From   Peer
}

// Peer is one call. Safe for concurrent use.
//
// A Peer may also be a Player, a Ducker or Rewinder, a SpeakerChooser, a VolumeSetter, a SoundResumer, a Restarter and
// Resumable.
type Peer interface {
	// Send queues one message in order. The peer owns the slice afterwards. Errors: ErrServerGone when the call is over, ErrOverrun
	// when too many bytes wait to be sent.
	Send(message []byte) error
	// SetMuted closes or opens the microphone at once. The server is not told.
	SetMuted(muted bool)
	// SetMicrophone changes the device during the call. The sink gets MicrophoneOpened as well. After an error the old device stays
	// in use. Errors: ErrNoMicrophone, ErrPermission, ErrMicrophoneBusy.
	SetMicrophone(ctx context.Context, id string) error
	// Antiphon reports whether the server named itself an Antiphon when it took the call. Such a server may get events that the plain
	// protocol does not have.
	Antiphon() bool
	// Close ends the call, frees everything that it holds, and waits for its goroutines. The sink gets nothing after Close has
	// returned. It may be called twice, but not from the sink.
	Close() error
}

// Player is a Peer whose responses arrive as messages (a WebSocket). The client plays them itself, and so knows what the user
// has heard.
type Player interface {
	// Play queues sound of a response: PCM, 16 bit little endian, mono, 24 kHz. The sink gets PlaybackStarted when the first sound
	// of a response is played. The slice is the callee's only during the call.
	Play(responseID, itemID string, contentIndex int, pcm []byte)
	// Finish says that Play got all sound of a response. The sink gets PlaybackStopped when it is played.
	Finish(responseID string)
	// Stop discards the sound that was not played yet, and returns the position that was being played. ok is false when nothing was.
	Stop() (heard PlayedPosition, ok bool)
}

// PlayedPosition is a position in the agent's sound: how far it has been played. Where the sound comes in a track (a Ducker) it is
// an RTP timestamp; where the client plays the sound of messages itself (a Player) it is a time in an item.
type PlayedPosition struct {
	// Timestamp is the RTP timestamp, at 48 kHz; it wraps round. Only of a Ducker.
	Timestamp uint32
	// ItemID and ContentIndex name the part of the item that is played. Only of a Player.
	ItemID       string
	ContentIndex int
	// MS is milliseconds from the item's beginning, rounded down, never more than was given to Play. Only of a Player.
	MS int
}

// SpeakerChooser is a Peer that can play on another loudspeaker.
type SpeakerChooser interface {
	// SetSpeaker changes the device. After an error the old one stays in use.
	SetSpeaker(ctx context.Context, id string) error
}

// SoundResumer is a Peer that may have to wait for a gesture of the user before it plays.
type SoundResumer interface {
	// ResumeSound tries to play again. Call it from the handler of a gesture. The sink gets SoundBlocked.
	ResumeSound()
}

// TimeZoner is a Dialer that knows the user's time zone. The session tells it to an Antiphon server, so that the model knows what time it
// is where the user is.
type TimeZoner interface {
	// TimeZone returns the name in the IANA database, such as "Europe/Oslo"; empty if it is not known.
	TimeZone() string
}

// DeviceLister is a Dialer that knows the devices. Their labels may be empty before the user has allowed a microphone.
type DeviceLister interface {
	Devices(ctx context.Context) (Devices, error)
}

// PipelineSource is a Dialer that can ask an Antiphon for its pipeline (GET /v1/antiphon/pipeline). Only Name and Components of
// the answer are used.
type PipelineSource interface {
	Pipeline(ctx context.Context) (Pipeline, error)
}

// PeerEvent is what happens on a call. It is one of: Message, PeerOpened, PeerLost, PeerRestored, PeerBroken, PeerEnded,
// MicrophoneAsked, MicrophoneOpened, MicrophoneFailed, DevicesChanged, LevelsMeasured, SoundBlocked, PlaybackStarted, PlaybackStopped,
// SpeechOnset, SpeechSustained, SpeechEnded, PositionPassed, PacketsCounted.
//
//sumtype:decl
type PeerEvent interface{ peerEvent() }

type (
	// Message is one server event as text. The session owns the slice afterwards.
	Message struct{ Data []byte }
	// PeerOpened: messages can be exchanged.
	PeerOpened struct{}
	// PeerLost: the connection is down. It may come back by itself, unless Moved says that the machine has lost the address that the
	// connection uses: then the session restarts it at once.
	PeerLost struct{ Moved bool }
	// PeerRestored: the connection is back.
	PeerRestored struct{}
	// PeerBroken: the connection is down for good, but nobody has ended the call, so another peer may go on with it. Err says why.
	PeerBroken struct{ Err error }
	// PeerEnded: the call is over. Err says why: ErrServerGone and the like. The session closes the peer.
	PeerEnded struct{ Err error }
	// MicrophoneAsked: the microphone is being opened, and the user may be asked for it. MicrophoneOpened or
	// MicrophoneFailed follows.
	MicrophoneAsked struct{}
	// MicrophoneOpened: this device is in use.
	MicrophoneOpened struct{ ID string }
	// MicrophoneFailed: there is no microphone in the call (any more).
	MicrophoneFailed struct{ Err error }
	// DevicesChanged: these are the devices now.
	DevicesChanged struct{ Devices Devices }
	// LevelsMeasured: how loud both sides are, some 20 times a second. The session may drop it.
	LevelsMeasured struct{ Levels Levels }
	// SoundBlocked: Blocked says whether the agent is silent until the user touches the page.
	SoundBlocked struct{ Blocked bool }
	// PlaybackStarted is a Player's: the playback of the response has begun.
	PlaybackStarted struct{ ResponseID string }
	// PlaybackStopped is a Player's: the response was played to its end. It comes once for each PlaybackStarted that no Stop has
	// ended.
	PlaybackStopped struct{ ResponseID string }
	// SpeechOnset, SpeechSustained and SpeechEnded are what a BargeInDetector finds; a Ducker or a Rewinder reports them. SpeechOnset:
	// speech begins that is not the echo of the playback. At is the Ducker's Position at that moment, where it was Known.
	SpeechOnset struct {
		At    PlayedPosition
		Known bool
	}
	// SpeechSustained: the sound is like the user's voice. It comes again when the user goes on after SpeechEnded, without a SpeechOnset.
	SpeechSustained struct{}
	// SpeechEnded: there was no speech for 40 ms after SpeechSustained, or for 250 ms after SpeechOnset. It comes once for each of them that is the last.
	SpeechEnded struct{}
	// PositionPassed is a Ducker's answer to AwaitPosition, with the same position.
	PositionPassed struct{ At PlayedPosition }
	// PacketsCounted: so many packets of the agent's sound have come on this connection. A peer of a server that sends a packet every 20 ms,
	// also while the agent is silent (an Antiphon over WebRTC), counts them each 250 ms. From the counts the session finds out that the server
	// or the network is gone, and restarts the connection. The session may drop it.
	PacketsCounted struct{ Received uint64 }
)

func (Message) peerEvent()          {}
func (PeerOpened) peerEvent()       {}
func (PeerLost) peerEvent()         {}
func (PeerRestored) peerEvent()     {}
func (PeerBroken) peerEvent()       {}
func (PeerEnded) peerEvent()        {}
func (MicrophoneAsked) peerEvent()  {}
func (MicrophoneOpened) peerEvent() {}
func (MicrophoneFailed) peerEvent() {}
func (DevicesChanged) peerEvent()   {}
func (LevelsMeasured) peerEvent()   {}
func (SoundBlocked) peerEvent()     {}
func (PlaybackStarted) peerEvent()  {}
func (PlaybackStopped) peerEvent()  {}
func (SpeechOnset) peerEvent()      {}
func (SpeechSustained) peerEvent()  {}
func (SpeechEnded) peerEvent()      {}
func (PositionPassed) peerEvent()   {}
func (PacketsCounted) peerEvent()   {}
