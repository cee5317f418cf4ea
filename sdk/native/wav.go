//go:build !js

package native

// WAV files of 16 bit PCM.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/antiphon-rt/antiphon/voice"
)

// ErrWAV: the data are no WAV file of 16 bit PCM; the wrapping error says what is wrong.
var ErrWAV = errors.New("native: not a WAV file of 16 bit PCM")

// maxWAV bounds a WAV file: 30 minutes at 48 kHz in stereo.
const maxWAV = 30 * 60 * 48000 * 4

// ReadWAV reads a WAV file of 16 bit PCM and returns its first channel, resampled to Rate.
func ReadWAV(r io.Reader) ([]int16, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWAV+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("native: read WAV: %w", err)
	case len(data) > maxWAV:
		return nil, fmt.Errorf("%w: longer than 30 minutes", ErrWAV)
	case len(data) < 12 || !bytes.Equal(data[:4], []byte("RIFF")) || !bytes.Equal(data[8:12], []byte("WAVE")):
		return nil, fmt.Errorf("%w: no RIFF header", ErrWAV)
	}
	var rate, channels int
	for rest := data[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:]
		size = min(size, int64(len(body))) // streams leave the length open
		switch name {
		case "fmt ":
			if rate, channels, err = wavFormat(body[:size]); err != nil {
				return nil, err
			}
		case "data":
			if rate == 0 {
				return nil, fmt.Errorf("%w: the data come before the format", ErrWAV)
			}
			return firstChannel(body[:size], rate, channels)
		}
		rest = body[min(size+size&1, int64(len(body))):]
	}
	return nil, fmt.Errorf("%w: no data", ErrWAV)
}

func wavFormat(b []byte) (rate, channels int, err error) {
	if len(b) < 16 {
		return 0, 0, fmt.Errorf("%w: the format is cut off", ErrWAV)
	}
	kind, bits := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[14:])
	rate, channels = int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint16(b[2:]))
	if kind != 1 && kind != 0xFFFE || bits != 16 || channels == 0 || rate == 0 {
		return 0, 0, fmt.Errorf("%w: format %d, %d bits, %d channels, %d Hz", ErrWAV, kind, bits, channels, rate)
	}
	return rate, channels, nil
}

func firstChannel(b []byte, rate, channels int) ([]int16, error) {
	pcm := make([]int16, 0, len(b)/2/channels)
	for i := 0; i+1 < len(b); i += 2 * channels {
		pcm = append(pcm, int16(binary.LittleEndian.Uint16(b[i:])))
	}
	if rate == Rate {
		return pcm, nil
	}
	r, err := voice.NewResampler(rate, Rate)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWAV, err)
	}
	return r.FlushPCM16(r.AppendPCM16(nil, pcm)), nil
}

// WriteWAV writes sound at Rate as a WAV file of 16 bit PCM. Errors: w's.
func WriteWAV(w io.Writer, pcm []int16) error {
	size := uint32(2 * len(pcm))
	b := append([]byte(nil), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = append(b, 1, 0, 1, 0) // PCM, one channel
	b = binary.LittleEndian.AppendUint32(b, Rate)
	b = binary.LittleEndian.AppendUint32(b, 2*Rate)
	b = append(b, 2, 0, 16, 0)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	if _, err := w.Write(voice.PCM16ToBytes(b, pcm)); err != nil {
		return fmt.Errorf("native: write WAV: %w", err)
	}
	return nil
}
