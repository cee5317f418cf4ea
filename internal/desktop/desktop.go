//go:build !js

// Package desktop is a desktop's microphone and loudspeaker, as a native.Source and a native.Sink. No platform needs a C compiler.
//
//   - Linux: both go through the sound server, PipeWire or PulseAudio. The package opens libpulse-simple when it is needed, so a
//     program also runs where there is no sound. Built with cgo and the tag "oto", the loudspeaker is ALSA's, by oto, for machines
//     without a sound server; that needs a C compiler and libasound2-dev.
//   - Windows and macOS: the loudspeaker is the system's default one, by oto. There is no microphone: OpenMicrophone fails with
//     ErrNoMicrophone.
package desktop

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

var (
	// ErrNoLibrary: the library that speaks to the sound server is not installed.
	ErrNoLibrary = errors.New("libpulse-simple.so.0 is not installed (on Debian: sudo apt-get install libpulse0)")
	// ErrNoServer: there is no sound server, or it does not have the device.
	ErrNoServer = errors.New("the sound server gives no such device: see that PipeWire or PulseAudio runs (pactl info)")
	// ErrNoMicrophone: this package records no sound on this platform.
	ErrNoMicrophone = errors.New("no microphone on this platform: use files or text")
	// ErrNoSpeaker: the system's loudspeaker cannot be opened.
	ErrNoSpeaker = errors.New("the loudspeaker cannot be opened: choose an output device in the system's sound settings")
)

// kept is how much sound may wait between a device and the call, in samples: 200 ms. Older sound is dropped.
const kept = native.Rate / 5

// queue is sound on its way from one goroutine to another. When it is full, it drops the oldest sound.
type queue struct {
	mu  sync.Mutex
	pcm []int16 // Invariant: len <= kept
}

func (q *queue) put(pcm []int16) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pcm = append(q.pcm, pcm...)
	if over := len(q.pcm) - kept; over > 0 {
		q.pcm = q.pcm[:copy(q.pcm, q.pcm[over:])]
	}
}

// take fills pcm, with silence where the queue has no sound.
func (q *queue) take(pcm []int16) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(pcm, q.pcm)
	q.pcm = q.pcm[:copy(q.pcm, q.pcm[n:])]
	clear(pcm[n:])
}

// Read implements io.Reader: it fills p with whole samples of 16 bit, little endian, and with silence where the queue has no sound. It never ends and never fails.
func (q *queue) Read(p []byte) (n int, err error) {
	pcm := make([]int16, len(p)/2)
	q.take(pcm)
	for i, v := range pcm {
		binary.LittleEndian.PutUint16(p[2*i:], uint16(v))
	}
	return 2 * len(pcm), nil
}
