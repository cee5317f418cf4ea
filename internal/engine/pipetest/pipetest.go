// Package pipetest has test helpers of several pipelines: they change sound as a call does, and collect the results of transcriptions.
package pipetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/thesyncim/gopus"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Path says how a call changes sound between the user and the recogniser.
type Path struct {
	Bitrate int     // the bit rate of Opus at 48 kHz in frames of 20 ms; 0: no Opus
	Lead    float64 // seconds of near silence before and after
	Noise   float32 // RMS of white noise that is added
	Gain    float32 // 0 means 1
	Seed    uint64  // the seed of the noise
}

// Send changes a sound with this sample rate as the path says, and returns it in the form for a recogniser: mono float32 at 16 kHz.
func (p Path) Send(pcm []int16, rate int) ([]float32, error) {
	x := voice.PCM16ToFloat(nil, pcm)
	lead := make([]float32, int(p.Lead*float64(rate)))
	x = append(append(lead, x...), lead...)
	rnd := rand.New(rand.NewPCG(p.Seed, 1))
	for i := range x {
		if p.Gain != 0 {
			x[i] *= p.Gain
		}
		x[i] += p.Noise * float32(rnd.NormFloat64())
	}
	if p.Bitrate == 0 {
		return Resample(x, rate, pipeline.InputRate)
	}
	x, err := Resample(x, rate, 48000)
	if err != nil {
		return nil, err
	}
	if x, err = opus(x, p.Bitrate); err != nil {
		return nil, err
	}
	// A server decodes to 24 kHz, the rate of the protocol, and resamples to 16 kHz.
	if x, err = Resample(x, 48000, pipeline.OutputRate); err != nil {
		return nil, err
	}
	return Resample(x, pipeline.OutputRate, pipeline.InputRate)
}

// Resample changes the sample rate of a whole sound.
func Resample(x []float32, from, to int) ([]float32, error) {
	r, err := voice.NewResampler(from, to)
	if err != nil {
		return nil, fmt.Errorf("resample: %w", err)
	}
	return r.Flush(r.Append(nil, x)), nil
}

func opus(x []float32, bitrate int) ([]float32, error) {
	enc, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: 48000, Channels: 1, Application: gopus.ApplicationVoIP})
	if err != nil {
		return nil, err
	}
	dec, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(48000, 1))
	if err != nil {
		return nil, err
	}
	if err := enc.SetBitrate(bitrate); err != nil {
		return nil, err
	}
	const frame = 960
	x = append(x, make([]float32, frame-1)...)
	packet, out := make([]byte, 1500), make([]float32, frame)
	var y []float32
	for ; len(x) >= frame; x = x[frame:] {
		n, err := enc.Encode(x[:frame], packet)
		if err != nil {
			return nil, err
		}
		m, err := dec.Decode(packet[:n], out)
		if err != nil {
			return nil, err
		}
		y = append(y, out[:m]...)
	}
	return y, nil
}

// Seen has all results of a transcription.
type Seen struct {
	Partials         []string // without repetitions
	Text             string
	EOU, Backchannel int // how many
	Err              error
}

// Collect writes the sound in slices of 20 ms, as a network delivers it, closes the input, and reads all results.
func Collect(t pipeline.Transcription, pcm []float32) (s Seen, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for r := range t.Results() {
			if n := len(s.Partials); r.Partial != "" && (n == 0 || s.Partials[n-1] != r.Partial) && !r.Final {
				s.Partials = append(s.Partials, r.Partial)
			}
			if r.EOU {
				s.EOU++
			}
			if r.Backchannel {
				s.Backchannel++
			}
			s.Text, s.Err = r.Text, r.Err
		}
	}()
	for len(pcm) > 0 && err == nil {
		n := min(320, len(pcm))
		err = t.Write(pcm[:n])
		pcm = pcm[n:]
	}
	if e := t.CloseInput(); err == nil {
		err = e
	}
	<-done
	return s, err
}
