//go:build !js

package native

// WAV files.

import (
	"errors"
	"fmt"
	"io"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
)

// ErrWAV: the data are no WAV file that ReadWAV reads; the wrapping error says what is wrong.
var ErrWAV = errors.New("native: cannot read the WAV file")

// maxWAV is the longest sound of a file, in samples: 30 minutes at 48 kHz.
const maxWAV = 30 * 60 * 48000

// ReadWAV reads a WAV file and returns the mean of its channels, resampled to Rate.
func ReadWAV(r io.Reader) ([]int16, error) {
	pcm, rate, err := wav.ReadAll(r, maxWAV)
	switch {
	case errors.Is(err, wav.ErrFormat), errors.Is(err, wav.ErrTooLong):
		return nil, fmt.Errorf("%w: %w", ErrWAV, err)
	case err != nil:
		return nil, fmt.Errorf("native: read WAV: %w", err)
	case rate == Rate:
		return pcm, nil
	}
	resampler, err := voice.NewResampler(rate, Rate)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWAV, err)
	}
	return resampler.FlushPCM16(resampler.AppendPCM16(nil, pcm)), nil
}

// WriteWAV writes sound at Rate as a WAV file of 16 bit PCM. Errors: w's.
func WriteWAV(w io.Writer, pcm []int16) error {
	if _, err := w.Write(voice.PCM16ToBytes(wav.Header(Rate, 2*len(pcm)), pcm)); err != nil {
		return fmt.Errorf("native: write WAV: %w", err)
	}
	return nil
}
