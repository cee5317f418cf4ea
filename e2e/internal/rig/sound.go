package rig

// Sounds for the microphone: speech by flite, coughs, silence, and their WAV files.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
)

// SpeechRate is the sample rate of a Sound, in hertz.
const SpeechRate = 16000

// Sound is mono audio at SpeechRate.
type Sound []int16

func Silence(d time.Duration) Sound { return make(Sound, int(d.Seconds()*SpeechRate)) }

// Speak returns a text as speech of flite with the synthesis voice rms.
func Speak(ctx context.Context, text string) (Sound, error) {
	var file, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, "flite", "-voice", "rms", "-t", text, "-o", "/dev/stdout")
	cmd.Stdout, cmd.Stderr = &file, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("flite (sudo apt-get install flite): %w %s", err, complaint.String())
	}
	return parseWAV(file.Bytes())
}

// Cough returns a burst of breath with a short hoarse tone: 350 ms that a detector may take for a speech onset, but a recogniser for
// no word.
func Cough() Sound {
	const length, voiced, pitch = 350 * SpeechRate / 1000, 160 * SpeechRate / 1000, 170
	s := make(Sound, length)
	seed := uint32(1)
	for i := range s {
		seed = seed*1664525 + 1013904223
		at := float64(i) / SpeechRate
		breath := 0.25 * float64(int32(seed)) / math.MaxInt32
		hoarse := 0.0
		if i < voiced {
			for n := 1; n <= 12; n++ { // the tone has overtones
				hoarse += 0.09 * math.Sin(2*math.Pi*float64(n*pitch)*at)
			}
		}
		shape := math.Min(1, at/0.015) * math.Exp(-6*at)
		s[i] = int16(max(-1, min(1, shape*(breath+hoarse))) * math.MaxInt16)
	}
	return s
}

func Join(parts ...Sound) Sound {
	var all Sound
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func (s Sound) Duration() time.Duration { return time.Duration(len(s)) * time.Second / SpeechRate }

// Onset returns the position at which the sound is first louder than -40 dBFS; 0 when it never is.
func (s Sound) Onset() time.Duration {
	for i, v := range s {
		if v > 328 || v < -328 {
			return s[:i].Duration()
		}
	}
	return 0
}

func (s Sound) WAV() []byte {
	return voice.PCM16ToBytes(wav.Header(SpeechRate, 2*len(s)), s)
}

var errNotSpeech = errors.New("not a sound at 16 kHz")

// parseWAV reads the WAV file that flite has written into a pipe.
func parseWAV(b []byte) (Sound, error) {
	pcm, rate, err := wav.ReadAll(bytes.NewReader(b), 10*60*SpeechRate)
	if err == nil && rate != SpeechRate {
		err = errNotSpeech
	}
	return pcm, err
}

// Resampled makes a sound of mono samples at another rate.
func Resampled(pcm []int16, rate int) (Sound, error) {
	r, err := voice.NewResampler(rate, SpeechRate)
	if err != nil {
		return nil, err
	}
	return r.FlushPCM16(r.AppendPCM16(nil, pcm)), nil
}

// Floats returns the samples in [-1, 1].
func (s Sound) Floats() []float32 { return voice.PCM16ToFloat(nil, s) }
