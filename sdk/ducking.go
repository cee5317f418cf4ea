package sdk

// What a platform's peer offers for barge-in: its gain, positions, holding and rewinding the playback.

// Ducker is a Peer whose sound comes in a track (WebRTC) and which can duck it. Such a peer has a BargeInDetector beside the
// microphone and reports SpeechOnset, SpeechSustained and SpeechEnded; the session predicts a barge-in from them. One goroutine at a
// time calls its methods, which must not wait.
type Ducker interface {
	// SetGain multiplies the agent's amplitude by gain from now on, at once: 1 is the volume that the user has chosen, 0 is silence.
	SetGain(gain float32)
	// Position is where the user first hears a gain that is set now. It is interpolated between packets, and rather too
	// early than too late. The sound before it may still be on its way to the loudspeaker, and is heard as it is. ok is false while
	// nothing of the agent's track has been played.
	Position() (at PlayedPosition, ok bool)
	// AwaitPosition owes one PositionPassed with this position, as soon as a gain that is set then is surely not heard before it;
	// at once if that is so already. A newer call replaces it.
	AwaitPosition(at PlayedPosition)
	// Mute drops what is still under way of the response that is heard now, whatever the gain is. It ends by itself where the
	// silence after that response plays, or where nothing has come for a while, so that the next response is heard.
	Mute()
}

// Rewinder is a Player that can hold its playback and go back in it. It takes the place of a Ducker where the client plays the
// sound itself, and reports SpeechOnset, SpeechSustained and SpeechEnded too. One goroutine at a time calls its methods, which must
// not wait.
type Rewinder interface {
	// SetGain multiplies the agent's amplitude by gain from now on, at once: 1 is the volume that the user has chosen, 0 is silence.
	SetGain(gain float32)
	// Position is where Hold would stop now. The sound before it may still be on its way to the loudspeaker. ok is false when no
	// response is being played.
	Position() (at PlayedPosition, ok bool)
	// Hold stops the playback where it is. What is given to Play meanwhile is kept. Resume and Stop end it.
	Hold()
	// Resume plays on from a position that Position gave for the response that is being played. Where the position is not known any
	// more, the playback goes on from where it was held. At least the last 5 s of what was played are kept.
	Resume(from PlayedPosition)
}

// VolumeSetter is a Peer that can play the agent louder and softer.
type VolumeSetter interface {
	// SetVolume sets the volume from 0 to 1; the gain of a Ducker or Rewinder is under it. Errors: ErrUnavailable where
	// only the device itself can be set.
	SetVolume(volume float32) error
}
