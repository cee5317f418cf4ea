package pipeline

// This file has the interface of noise reduction, which is an optional part of a pipeline.

import (
	"errors"
	"time"
)

// NoiseField says how far the user is from the microphone, as the protocol's noise_reduction does.
type NoiseField uint8

// The fields.
const (
	NearField NoiseField = iota // a headset, or a telephone at the ear
	FarField                    // the microphone of a laptop or of a room
)

// NoiseReducer takes noise out of the user's audio, before anything else of the pipeline hears it. It is safe for concurrent use.
type NoiseReducer interface {
	// Component returns the present state. It does not block.
	Component() Component
	// Open begins the audio of one call. It returns an error that wraps ErrUnavailable when there is no engine, and ErrBusy when
	// it has too many calls.
	Open(f NoiseField) (NoiseReduction, error)
	// Close ends all that the reducer holds. A NoiseReduction that is open then returns an error from Append. Close may be called again.
	Close() error
}

// NoiseReduction takes noise out of the audio of one call. Only one goroutine at a time may use it.
//
// What it returns has no offset in time: sample number n of all that it has returned is sample number n of all that it got. It returns a
// sample later than it got the sample.
type NoiseReduction interface {
	// Append takes mono audio at NoiseRate, and appends to dst the audio that is ready. It takes a bounded time for each sample, much less
	// than the sample's duration. After an error the reduction has ended: nothing was appended to dst, and every further call returns an
	// error.
	Append(dst, pcm []int16) ([]int16, error)
	// Flush appends the rest of what Append took. Audio that Append takes after that begins anew.
	Flush(dst []int16) ([]int16, error)
	// Delay returns how much later than it got a sample it returns the sample, at least.
	Delay() time.Duration
	// Close ends the reduction. It may be called again.
	Close()
}

// NoiseRate is the sample rate of the audio that a NoiseReduction takes and returns, in Hz. It is mono.
const NoiseRate = 24000

// ReduceNoise gives the pipeline a reducer of noise. The pipeline owns it: its Close closes the reducer. Only one goroutine may call it, before the
// pipeline is used.
func (p *Pipeline) ReduceNoise(r NoiseReducer) {
	end := p.Close
	p.Noise = r
	p.Close = func() error { return errors.Join(end(), r.Close()) }
}
