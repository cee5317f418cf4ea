//go:build !js

package native

// A microphone for programs: it sends the sound that the program gives it.

import (
	"errors"
	"sync"
	"time"
)

// MaxQueued is how much sound may wait in a Microphone.
const MaxQueued = 10 * time.Minute

// ErrQueueFull: a Microphone keeps no more sound than MaxQueued.
var ErrQueueFull = errors.New("native: too much sound waits to be said: wait for what was given before")

// Microphone is a Source that plays the sound it was given, in real time, and is silent in between. The zero value is ready and
// silent. Safe for concurrent use. It serves one call at a time.
type Microphone struct {
	mu     sync.Mutex
	queue  []utterance
	queued int // how many samples are in queue. Invariant: at most MaxQueued of sound.
}

type utterance struct {
	pcm  []int16
	said chan struct{}
}

// Speak queues a copy of pcm. said is closed when the last sample was taken to be sent, or when Clear discards it. Errors:
// ErrQueueFull.
func (m *Microphone) Speak(pcm []int16) (said <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queued+len(pcm) > int(MaxQueued/FrameTime)*FrameSize {
		return nil, ErrQueueFull
	}
	u := utterance{pcm: append([]int16(nil), pcm...), said: make(chan struct{})}
	if len(pcm) == 0 {
		close(u.said)
		return u.said, nil
	}
	m.queue = append(m.queue, u)
	m.queued += len(pcm)
	return u.said, nil
}

// Clear discards the sound that was not sent yet.
func (m *Microphone) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.queue {
		close(u.said)
	}
	m.queue, m.queued = nil, 0
}

// Frame implements Source.
func (m *Microphone) Frame(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(pcm) > 0 && len(m.queue) > 0 {
		u := &m.queue[0]
		n := copy(pcm, u.pcm)
		pcm, u.pcm = pcm[n:], u.pcm[n:]
		m.queued -= n
		if len(u.pcm) == 0 {
			close(u.said)
			m.queue = m.queue[1:]
		}
	}
	clear(pcm)
}
