package pipeline

import "context"

// Synthesizer turns text into speech.
type Synthesizer interface {
	// Synthesize speaks one utterance: mono chunks at OutputRate, at most MaxChunk samples each, in order, as soon as they are
	// there. It returns ctx.Err() on cancel, emit's error when emit gives one, an error that wraps ErrUnavailable when nothing
	// can speak, and one that wraps ErrUnknownVoice for a voice it does not have. A text without anything to say gives no
	// chunk and no error. emit's slice is the caller's only during the call.
	Synthesize(ctx context.Context, s Utterance, emit func(pcm []int16) error) error
}

// VoiceChecker is a Synthesizer that knows its voices.
type VoiceChecker interface {
	// CheckVoice says whether there is a voice of that name: nil, or an error that wraps ErrUnknownVoice and says which there are.
	// It does not block.
	CheckVoice(name string) error
}

// Utterance is one piece of text to speak, usually a clause.
type Utterance struct {
	Text  string
	Voice string  // empty: the adapter's own
	Speed float64 // 1 is normal, 2 twice as fast; 0 means 1; adapters clamp to 0.25 .. 4
}
