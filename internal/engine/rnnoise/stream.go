package rnnoise

// This file takes the noise out of the audio of one call: it converts the rate, cuts frames, and mixes what RNNoise makes with the original.

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// rate is the sample rate of RNNoise, in Hz.
const rate = 48000

// The shares of RNNoise's output in what a recogniser gets; the rest is the original. RNNoise alone takes weak sounds of speech away together
// with the noise, and the recogniser makes more mistakes than without it. A share of 0.5 takes at most 6 dB from the noise, 0.6 at
// most 8 dB. Measured: docs/benchmarks.md.
const (
	nearShare = 0.5
	farShare  = 0.6
)

// stream is a pipeline.NoiseReduction.
type stream struct {
	host     *host
	state    uint32 // address of the state in the instance
	share    float32
	up, down *voice.Resampler

	wide     []float32             // audio at rate that is not yet a frame
	original [frameSamples]float32 // the last frame that RNNoise got: its output is one frame late
	early    bool                  // the next output of RNNoise is of the time before the first sample
	owed     int                   // samples at pipeline.NoiseRate that Append took and did not return
	ended    error

	floats, narrow []float32
	closed         sync.Once
}

// newStream returns a stream on the host, which has made a state for it.
func newStream(h *host, state uint32, f pipeline.NoiseField) (*stream, error) {
	up, err := voice.NewResampler(pipeline.NoiseRate, rate)
	if err != nil {
		return nil, err
	}
	down, err := voice.NewResampler(rate, pipeline.NoiseRate)
	if err != nil {
		return nil, err
	}
	s := &stream{host: h, state: state, share: nearShare, up: up, down: down, early: true}
	if f == pipeline.FarField {
		s.share = farShare
	}
	return s, nil
}

func (s *stream) Append(dst, pcm []int16) ([]int16, error) {
	s.floats = voice.PCM16ToFloat(s.floats[:0], pcm)
	s.wide = s.up.Append(s.wide, s.floats)
	s.owed += len(pcm)
	return s.frames(dst)
}

func (s *stream) Flush(dst []int16) ([]int16, error) {
	if s.owed == 0 {
		return dst, s.ended
	}
	owed, before := s.owed, len(dst)
	s.wide = s.up.Flush(s.wide)
	// RNNoise is one frame late, and the resampler needs some samples more.
	s.wide = append(s.wide, make([]float32, 3*frameSamples-len(s.wide)%frameSamples)...)
	dst, err := s.frames(dst)
	if err != nil {
		return dst, err
	}
	s.down.Reset()
	s.wide, s.early, s.owed = s.wide[:0], true, 0
	clear(s.original[:])
	return dst[:before+owed], nil
}

// frames takes the noise out of the frames that are complete, and appends them to dst at pipeline.NoiseRate.
func (s *stream) frames(dst []int16) ([]int16, error) {
	if s.ended != nil {
		return dst, s.ended
	}
	s.narrow = s.narrow[:0]
	rest := s.wide
	for ; len(rest) >= frameSamples; rest = rest[frameSamples:] {
		var clean [frameSamples]float32
		for i, x := range rest[:frameSamples] {
			clean[i] = x * 32768
		}
		if err := s.host.reduce(s.state, &clean); err != nil {
			s.ended = err
			return dst, err
		}
		for i, x := range s.original {
			clean[i] = s.share*clean[i]/32768 + (1-s.share)*x
		}
		copy(s.original[:], rest)
		if s.early {
			s.early = false
			continue
		}
		s.narrow = s.down.Append(s.narrow, clean[:])
	}
	s.wide = s.wide[:copy(s.wide, rest)]
	s.owed -= len(s.narrow)
	return voice.FloatToPCM16(dst, s.narrow), nil
}

func (s *stream) Delay() time.Duration {
	samples := frameSamples + int(s.up.Latency())*rate/pipeline.NoiseRate + int(s.down.Latency())
	return time.Duration(samples) * time.Second / rate
}

func (s *stream) Close() {
	s.closed.Do(func() {
		if s.ended == nil {
			s.ended = pipeline.ErrClosed
		}
		s.host.leave(s.state)
	})
}

// host is an instance that several calls share, one at a time. It is safe for concurrent use.
type host struct {
	mu      sync.Mutex
	in      *instance
	streams int
	dead    error // why the instance is not used any more
}

// enter makes a state for one more call.
func (h *host) enter() (state uint32, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead != nil {
		return 0, h.dead
	}
	state, err = h.in.open(context.Background())
	if err != nil {
		h.die(err)
		return 0, err
	}
	h.streams++
	return state, nil
}

func (h *host) reduce(state uint32, frame *[frameSamples]float32) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead != nil {
		return h.dead
	}
	if err := h.in.reduce(context.Background(), state, frame); err != nil {
		h.die(err)
		return h.dead
	}
	return nil
}

func (h *host) leave(state uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams--
	if h.dead != nil {
		return
	}
	if err := h.in.free(context.Background(), state); err != nil {
		h.die(err)
	}
}

func (h *host) close(why error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead != nil {
		return nil
	}
	h.dead = why
	return h.in.module.Close(context.Background())
}

// die ends the instance after an error. The caller holds mu.
func (h *host) die(err error) {
	h.dead = errors.Join(ErrProgram, err, h.in.module.Close(context.Background()))
}

// use returns how many calls use the instance, and why it is not used any more, if it is not.
func (h *host) use() (streams int, dead error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams, h.dead
}
