//go:build !js

// Package desktop is a desktop's microphone and loudspeaker, as a native.Source and a native.Sink: those of its sound server,
// which is PipeWire or PulseAudio. It opens libpulse-simple when it is needed, so that programs are built without a C
// compiler and run where there is no sound.
package desktop

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

var (
	// ErrNoLibrary: the library that speaks to the sound server is not installed.
	ErrNoLibrary = errors.New("libpulse-simple.so.0 is not installed (on Debian: sudo apt-get install libpulse0)")
	// ErrNoServer: there is no sound server, or it does not have the device.
	ErrNoServer = errors.New("the sound server gives no such device: see that PipeWire or PulseAudio runs (pactl info)")
)

const (
	// block is how much goes to and from the server at a time: 10 ms.
	block = native.Rate / 100
	// kept is how much may wait between the server and the call, in samples: 200 ms. What is older is dropped.
	kept = native.Rate / 5
	// buffered is how much the server is asked to hold, in bytes: 40 ms.
	buffered = 2 * native.Rate * 40 / 1000
	// patience is how long Close waits for a server that does not answer any more.
	patience = time.Second
)

// queue is sound on its way from one goroutine to another. Of too much the newest is kept.
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

// take fills pcm, with silence where nothing is there.
func (q *queue) take(pcm []int16) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := copy(pcm, q.pcm)
	q.pcm = q.pcm[:copy(q.pcm, q.pcm[n:])]
	clear(pcm[n:])
}

// device is what a Microphone and a Speaker have in common: a goroutine that exchanges blocks with the server.
type device struct {
	queue queue
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once
	err   atomic.Pointer[error]
}

func newDevice() device { return device{stop: make(chan struct{}), done: make(chan struct{})} }

// run exchanges blocks until the device is closed, or fails.
func (d *device) run(s *stream, exchange func(block []int16) error) {
	defer close(d.done)
	defer s.free()
	pcm := make([]int16, block)
	for {
		select {
		case <-d.stop:
			return
		default:
		}
		if err := exchange(pcm); err != nil {
			d.err.Store(&err)
			return
		}
	}
}

// Err says why the device has ended before it was closed; nil while it works.
func (d *device) Err() error {
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Close gives the device back. A server that hangs is left after a second. May be called twice.
func (d *device) Close() error {
	d.once.Do(func() { close(d.stop) })
	select {
	case <-d.done:
	case <-time.After(patience):
	}
	return d.Err()
}

// Microphone is a native.Source. Safe for concurrent use.
type Microphone struct{ device }

// OpenMicrophone opens a device by the server's name for it, empty for the default one. Errors: ErrNoLibrary, ErrNoServer.
func OpenMicrophone(name string) (*Microphone, error) {
	s, err := open(recording, name, "microphone")
	if err != nil {
		return nil, err
	}
	m := &Microphone{newDevice()}
	go m.run(s, func(pcm []int16) error {
		err := s.read(pcm)
		if err == nil {
			m.queue.put(pcm)
		}
		return err
	})
	return m, nil
}

// Frame implements native.Source.
func (m *Microphone) Frame(pcm []int16) { m.queue.take(pcm) }

// Speaker is a native.Sink. Safe for concurrent use.
type Speaker struct{ device }

// OpenSpeaker opens a device by the server's name for it, empty for the default one. Errors: ErrNoLibrary, ErrNoServer.
func OpenSpeaker(name string) (*Speaker, error) {
	s, err := open(playback, name, "voice")
	if err != nil {
		return nil, err
	}
	p := &Speaker{device: newDevice()}
	go p.run(s, func(pcm []int16) error {
		p.queue.take(pcm)
		return s.write(pcm)
	})
	return p, nil
}

// Hear implements native.Sink.
func (s *Speaker) Hear(pcm []int16) { s.queue.put(pcm) }
