package sdk

// Level is how loud the agent is played, beside the volume that the person has chosen.
type Level uint8

// The levels. Exhaustively:
const (
	// LevelFull is the volume that the person has chosen.
	LevelFull Level = iota
	// LevelDucked is 20 dB under it.
	LevelDucked
	// LevelSilent is nothing at all.
	LevelSilent
)

// Gain is the factor of the level's amplitude: 1, 0.1, 0.
func (l Level) Gain() float32 {
	switch l {
	case LevelFull:
		return 1
	case LevelDucked:
		return 0.1
	case LevelSilent:
		return 0
	}
	return 1
}

// String gives "full", "ducked" or "silent".
func (l Level) String() string {
	switch l {
	case LevelFull:
		return "full"
	case LevelDucked:
		return "ducked"
	case LevelSilent:
		return "silent"
	}
	return "unknown"
}

// Ducker is a Peer that can lower the agent's sound, and knows in which packet of it that is heard (WebRTC). Such a peer
// has a voice detector beside the microphone (see BargeInDetector) and tells SpeechOnset, SpeechSustained and SpeechEnded, from which the
// session predicts an interruption. Its methods are called by one goroutine at a time and must not wait.
type Ducker interface {
	// SetLevel plays the agent at this level from now on, at once.
	SetLevel(level Level)
	// Mark is the RTP timestamp of the sound in which a level that is set now is heard first, interpolated between packets, and
	// rather too early than too late. What is before it may be on its way to the ear still, and is heard as it is. ok is
	// false while nothing of the agent's track has been played.
	Mark() (mark uint32, ok bool)
	// AwaitMark owes one MarkPassed{mark}, when a level that is set then is surely not heard before mark; at once if that is so
	// already. A newer one replaces it. Timestamps wrap round.
	AwaitMark(mark uint32)
	// Mute drops what is still under way of the reply that is heard now, whatever the level is. It ends by itself where
	// the silence behind that reply plays, or where nothing has come for a while, so that the next reply is heard.
	Mute()
}

// Rewinder is a Player that can hold its playback and go back in it. It takes the place of a Ducker where the client plays
// the sound itself: such a peer tells SpeechOnset, SpeechSustained and SpeechEnded too. Its methods are called by one
// goroutine at a time and must not wait.
type Rewinder interface {
	// SetLevel plays the agent at this level from now on, at once.
	SetLevel(level Level)
	// Position is where Hold would stop now: what is before it may be on its way to the ear still. ok is false when no reply is
	// being played.
	Position() (at PlayedPosition, ok bool)
	// Hold stops the playback where it is. What is given to Play meanwhile is kept. Resume and Stop end it.
	Hold()
	// Resume plays on from a position that Position gave for the reply that is being played, or from where it was held
	// when that is not known any more: at least the last 5 s of what was played are kept.
	Resume(from PlayedPosition)
}

// VolumeSetter is a Peer that can play the agent louder and softer.
type VolumeSetter interface {
	// SetVolume sets the volume from 0 to 1; the levels of a Ducker or Rewinder are under it. Errors: ErrUnavailable where
	// only the device itself can be set.
	SetVolume(volume float32) error
}
