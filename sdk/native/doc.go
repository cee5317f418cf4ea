//go:build !js

// Package native places calls from a program: it implements the interfaces of package sdk on pion's WebRTC (Dialer) and
// on a WebSocket (SocketDialer). What is said comes from a Source, such as Microphone; what is heard goes to a Sink, such
// as Speaker. Both are PCM: 16 bit, mono, 24 kHz.
package native

import "time"

const (
	// Rate is the sample rate of all sound, in Hz.
	Rate = 24000
	// FrameTime is the length of one frame, which is one packet.
	FrameTime = 20 * time.Millisecond
	// FrameSize is the number of samples of one frame.
	FrameSize = Rate * 20 / 1000
)

// Source is what is said on a call. It is asked every FrameTime, by one goroutine.
type Source interface {
	// Frame fills pcm (FrameSize samples) with what is said next, silence if nothing is.
	Frame(pcm []int16)
}

// Sink is what is heard on a call. It is told by one goroutine.
type Sink interface {
	// Hear takes what was heard next, mostly FrameSize samples. The slice is the callee's only during the call.
	Hear(pcm []int16)
}
