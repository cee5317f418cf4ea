//go:build !js

package native

// A loudspeaker for programs: it measures and keeps the sound that it gets.

import (
	"context"
	"math"
	"sync"
	"time"
)

const (
	// Audible is the level of a frame, in dBFS, from which on it counts as sound.
	Audible = -50
	// MaxFrames is how many frames a Speaker remembers: 10 minutes.
	MaxFrames = int(10 * time.Minute / FrameTime)
)

// Speaker is a Sink that measures the sound it gets. Make it with NewSpeaker. Safe for concurrent use.
type Speaker struct {
	record int // samples

	mu       sync.Mutex
	heard    []HeardFrame // a ring once it is full; next is the oldest
	next     int
	recorded []int16
	last     time.Time     // the last audible frame
	sound    time.Duration // the length of all audible frames
	changed  chan struct{} // closed and replaced with each frame while a goroutine waits
	waiting  int
}

// HeardFrame is one frame that was heard.
type HeardFrame struct {
	// At is when it arrived, with the monotonic clock.
	At time.Time
	// Samples is its length at Rate.
	Samples int
	// Level is its root mean square in dBFS, -120 at least.
	Level float64
}

// NewSpeaker makes a speaker that records the first part of its sound, of this length, as PCM; 0 records nothing.
func NewSpeaker(record time.Duration) *Speaker {
	return &Speaker{record: int(record.Seconds() * Rate), changed: make(chan struct{})}
}

// Hear implements Sink.
func (s *Speaker) Hear(pcm []int16) {
	f := HeardFrame{At: time.Now(), Samples: len(pcm), Level: dbfs(pcm)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.heard) < MaxFrames {
		s.heard = append(s.heard, f)
	} else {
		s.heard[s.next] = f
		s.next = (s.next + 1) % MaxFrames
	}
	if room := s.record - len(s.recorded); room > 0 {
		s.recorded = append(s.recorded, pcm[:min(room, len(pcm))]...)
	}
	if f.Level >= Audible {
		s.last = f.At
		s.sound += time.Duration(len(pcm)) * time.Second / Rate
	}
	if s.waiting > 0 {
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// Frames returns the last frames, oldest first, MaxFrames at most.
func (s *Speaker) Frames() []HeardFrame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(append(make([]HeardFrame, 0, len(s.heard)), s.heard[s.next:]...), s.heard[:s.next]...)
}

// Recording returns the recorded PCM.
func (s *Speaker) Recording() []int16 { return s.RecordingFrom(0) }

// RecordingFrom returns the recorded PCM from a sample on: nothing if the recording is shorter.
func (s *Speaker) RecordingFrom(sample int) []int16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int16(nil), s.recorded[min(max(sample, 0), len(s.recorded)):]...)
}

// Sounded returns when the last audible frame came (the zero time when none has come), and the length of all audible frames.
func (s *Speaker) Sounded() (last time.Time, total time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.sound
}

// AwaitSound waits for the next audible frame. Errors: ctx's.
func (s *Speaker) AwaitSound(ctx context.Context) error {
	_, before := s.Sounded()
	return s.await(ctx, func() (bool, time.Duration) { return s.sound > before, -1 })
}

// AwaitSilence waits until nothing was audible for d, counted from the last sound or, when there was none, from now. Errors: ctx's.
func (s *Speaker) AwaitSilence(ctx context.Context, d time.Duration) error {
	begin := time.Now()
	return s.await(ctx, func() (bool, time.Duration) {
		from := begin
		if !s.last.IsZero() {
			from = s.last
		}
		left := d - time.Since(from)
		return left <= 0, left
	})
}

// await waits until met returns true. It calls met under the lock after each frame, and after the duration that met returns unless
// that is negative.
func (s *Speaker) await(ctx context.Context, met func() (bool, time.Duration)) error {
	for {
		s.mu.Lock()
		done, again := met()
		changed := s.changed
		if !done {
			s.waiting++
		}
		s.mu.Unlock()
		if done {
			return nil
		}
		err := waitEither(ctx, changed, again)
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func waitEither(ctx context.Context, changed <-chan struct{}, again time.Duration) error {
	var timer <-chan time.Time
	if again >= 0 {
		t := time.NewTimer(again)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-changed:
	case <-timer:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// dbfs returns the root mean square of the samples in dBFS, from -120 to 0.
func dbfs(pcm []int16) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return -120
	}
	return max(10*math.Log10(sum/float64(len(pcm)))-20*math.Log10(32768), -120)
}

// meterLevel maps dBFS to the levels of package sdk: 0 at -60 dBFS, 1 at full scale.
func meterLevel(dbfs float64) float32 { return float32(min(max(1+dbfs/60, 0), 1)) }
