//go:build darwin || windows

package desktop

// No microphone: what OpenMicrophone says on the platforms on which this package records no sound.

// Microphone is a native.Source. There is none on this platform.
type Microphone struct{}

// OpenMicrophone fails with ErrNoMicrophone.
func OpenMicrophone(string) (*Microphone, error) { return nil, ErrNoMicrophone }

// Frame implements native.Source: it fills pcm with silence.
func (*Microphone) Frame(pcm []int16) { clear(pcm) }

// Err returns nil.
func (*Microphone) Err() error { return nil }

// Close does nothing.
func (*Microphone) Close() error { return nil }
