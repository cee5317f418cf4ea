//go:build darwin || windows || (linux && oto && cgo)

package desktop

// The system's default loudspeaker, by oto: Core Audio, WASAPI, or ALSA.

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ebitengine/oto/v3"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

const (
	// deviceBuffer is how much sound the device is asked to hold.
	deviceBuffer = 40 * time.Millisecond
	// playerBuffer is how much sound oto takes ahead from the queue, in bytes: 40 ms.
	playerBuffer = 2 * native.Rate * 40 / 1000
	// openTime is how long the device may take to start.
	openTime = 5 * time.Second
)

// output opens the device, once for a program: oto has one context for each.
var output = sync.OnceValues(func() (*oto.Context, error) {
	c, ready, err := oto.NewContext(&oto.NewContextOptions{SampleRate: native.Rate, ChannelCount: 1, Format: oto.FormatSignedInt16LE, BufferSize: deviceBuffer})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSpeaker, err)
	}
	select {
	case <-ready:
		return c, nil
	case <-time.After(openTime):
		return nil, fmt.Errorf("%w: it did not start within %v", ErrNoSpeaker, openTime)
	}
})

// errNoChoice is why a device cannot be named.
var errNoChoice = errors.New("this platform plays on the default device alone, so leave the name out")

// Speaker is a native.Sink. Safe for concurrent use.
type Speaker struct {
	queue  queue
	player *oto.Player
	once   sync.Once
}

// OpenSpeaker opens the default device; name must be empty. Errors: ErrNoSpeaker.
func OpenSpeaker(name string) (*Speaker, error) {
	if name != "" {
		return nil, fmt.Errorf("%w: %w", ErrNoSpeaker, errNoChoice)
	}
	c, err := output()
	if err != nil {
		return nil, err
	}
	s := &Speaker{}
	s.player = c.NewPlayer(&s.queue)
	s.player.SetBufferSize(playerBuffer)
	s.player.Play()
	return s, nil
}

func (s *Speaker) Hear(pcm []int16) { s.queue.put(pcm) }

// Err returns why the device has ended before it was closed; nil while it works.
func (s *Speaker) Err() error { return s.player.Err() }

// Close stops the playback. It may be called twice.
func (s *Speaker) Close() error {
	s.once.Do(s.player.Pause)
	return s.Err()
}
