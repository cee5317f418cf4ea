package rig

// Sounds for the microphone: speech by flite, coughs, silence, and their WAV files.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"time"

	"github.com/antiphon-rt/antiphon/voice"
)

// SpeechRate is the sample rate of a Sound, in hertz.
const SpeechRate = 16000

// Sound is mono audio at SpeechRate.
type Sound []int16

// Silence returns silence of this length.
func Silence(d time.Duration) Sound { return make(Sound, int(d.Seconds()*SpeechRate)) }

// Speak returns a text as speech of flite with the synthesis voice kal16.
func Speak(ctx context.Context, text string) (Sound, error) {
	var wav, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, "flite", "-voice", "kal16", "-t", text, "-o", "/dev/stdout")
	cmd.Stdout, cmd.Stderr = &wav, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("flite (sudo apt-get install flite): %w %s", err, complaint.String())
	}
	return parseWAV(wav.Bytes())
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

// Join returns the sounds one after another.
func Join(parts ...Sound) Sound {
	var all Sound
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// Duration returns the length of the sound.
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

// WAV returns the sound as a WAV file.
func (s Sound) WAV() []byte {
	data := new(bytes.Buffer)
	size := uint32(2 * len(s))
	for _, v := range []any{
		[]byte("RIFF"), 36 + size, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(SpeechRate), uint32(2 * SpeechRate),
		uint16(2), uint16(16), []byte("data"), size, []int16(s),
	} {
		_ = binary.Write(data, binary.LittleEndian, v) // a buffer never fails
	}
	return data.Bytes()
}

var errNotSpeech = errors.New("not a mono 16-bit WAV file at 16 kHz")

// parseWAV reads the WAV file that flite has written into a pipe. The sizes in it are wrong, so the data go to the end.
func parseWAV(b []byte) (Sound, error) {
	at := bytes.Index(b, []byte("data"))
	if at < 36 || len(b) < at+8 || binary.LittleEndian.Uint16(b[22:]) != 1 || binary.LittleEndian.Uint32(b[24:]) != SpeechRate {
		return nil, errNotSpeech
	}
	s := make(Sound, (len(b)-at-8)/2)
	_, err := binary.Decode(b[at+8:], binary.LittleEndian, []int16(s))
	return s, err
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
