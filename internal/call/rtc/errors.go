package rtc

import "github.com/antiphon-rt/antiphon/internal/call/rtc/internal/offer"

// The errors of the negotiation of a call.

// Errors of Engine.Answer. They come wrapped, with text that tells the caller what to change. The errors of a call that has
// begun are those of package call.
var (
	// ErrBadSDP means that the offer cannot be read, or asks for what a call cannot be.
	ErrBadSDP = offer.ErrBadSDP
	// ErrNoAudio means that the offer has no audio section with Opus that could be answered.
	ErrNoAudio = offer.ErrNoAudio
)
