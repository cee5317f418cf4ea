package pipeline

// This file has the interface of the stage that speaks the answers.

import "context"

// Synthesizer turns text into speech. Its methods may be called by several goroutines at a time.
type Synthesizer interface {
	// Synthesize speaks one utterance. It calls emit with one mono chunk after another, at OutputRate and with at most MaxChunk
	// samples each, as soon as it has them. emit may use the slice only during the call. Synthesize returns ctx.Err() when it is
	// cancelled, the error of emit when emit returns one, an error that wraps ErrUnavailable when no engine can speak, and an
	// error that wraps ErrUnknownVoice for a voice that it does not have. For a text without anything to say it emits nothing and
	// returns nil.
	Synthesize(ctx context.Context, s Utterance, emit func(pcm []int16) error) error
}

// VoiceChecker is a Synthesizer that knows the names of its synthesis voices.
type VoiceChecker interface {
	// CheckVoice returns nil if there is a voice with this name, and otherwise an error that wraps ErrUnknownVoice and lists the
	// voices. It does not block.
	CheckVoice(name string) error
}

// Utterance is one piece of text to speak, usually a clause.
type Utterance struct {
	Text  string
	Voice string  // empty: the default of the adapter
	Speed float64 // 1 is normal, 2 is twice as fast, 0 means 1; adapters limit it to 0.25 .. 4
}

// ProtocolVoices returns the names of synthesis voices in the Realtime protocol, in alphabetical order. Clients send them to each server, so
// a synthesizer speaks with a voice of its own for those that it does not have.
func ProtocolVoices() []string {
	return []string{"alloy", "ash", "ballad", "cedar", "coral", "echo", "marin", "sage", "shimmer", "verse"}
}
