//go:build !js

// Package native places calls from a program: it implements the interfaces of package sdk on pion's WebRTC (Dialer) and
// on a WebSocket (SocketDialer). The user's sound comes from a Source, such as Microphone; the agent's sound goes to a Sink,
// such as Speaker. Both are PCM: 16 bit, mono, 24 kHz.
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

// Source gives the sound that a call sends. One goroutine asks it every FrameTime.
type Source interface {
	// Frame fills pcm (FrameSize samples) with the next sound, or with silence if there is none.
	Frame(pcm []int16)
}

// Sink takes the sound that a call receives. One goroutine calls it.
type Sink interface {
	// Hear takes the next sound, mostly FrameSize samples. The slice is the callee's only during the call.
	Hear(pcm []int16)
}
