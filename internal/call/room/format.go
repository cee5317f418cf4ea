package room

// Audio inside a session is mono PCM at 24 kHz. In events it has the formats of the protocol: audio/pcm, audio/pcmu and audio/pcma.

import (
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// Rates of the audio inside a session, in samples per second, all mono.
const (
	InputRate  = 24000 // what clients send and the input buffer keeps
	OutputRate = 24000 // what the synthesizer makes
)

// LawRate is the sample rate of G.711, in samples per second.
const LawRate = 8000

// Decoder converts one stream of a client's bytes into samples at InputRate. The zero value is ready. It belongs to one goroutine.
type Decoder struct {
	format string           // the format of the present stream
	up     *voice.Resampler // its resampler; nil for PCM
	narrow []int16
}

// Decode converts the next bytes of the stream. A format that differs from the one before begins a new stream. The caller owns the samples.
func (d *Decoder) Decode(format string, audio []byte) ([]int16, error) {
	if d.format != format {
		*d = Decoder{format: format}
		if format != wire.FormatPCM {
			up, err := voice.NewResampler(LawRate, InputRate)
			if err != nil {
				return nil, err
			}
			d.up = up
		}
	}
	switch format {
	case wire.FormatPCMU:
		d.narrow = voice.MuLawToPCM16(d.narrow[:0], audio)
	case wire.FormatPCMA:
		d.narrow = voice.ALawToPCM16(d.narrow[:0], audio)
	default:
		return voice.BytesToPCM16(nil, audio), nil
	}
	return d.up.AppendPCM16(nil, d.narrow), nil
}

// Rest returns the samples that the resampler has kept back. The stream ends with them.
func (d *Decoder) Rest() []int16 {
	if d.up == nil {
		return nil
	}
	return voice.FloatToPCM16(nil, d.up.Flush(nil))
}

// Reset begins a new stream.
func (d *Decoder) Reset() { *d = Decoder{} }

// Encoder converts samples at OutputRate into one stream of bytes in a client's format. The zero value writes audio/pcm. It belongs to one goroutine.
type Encoder struct {
	format string
	down   *voice.Resampler // nil for PCM
	narrow []int16
}

// NewEncoder returns an Encoder for format. A format that the protocol does not have is read as audio/pcm.
func NewEncoder(format string) (*Encoder, error) {
	if format != wire.FormatPCMU && format != wire.FormatPCMA {
		return &Encoder{format: wire.FormatPCM}, nil
	}
	down, err := voice.NewResampler(OutputRate, LawRate)
	return &Encoder{format: format, down: down}, err
}

// Encode converts the next samples. The caller owns the bytes.
func (e *Encoder) Encode(pcm []int16) []byte {
	if e.down == nil {
		return voice.PCM16ToBytes(nil, pcm)
	}
	e.narrow = e.down.AppendPCM16(e.narrow[:0], pcm)
	return e.law(e.narrow)
}

// Rest returns the bytes of the samples that the resampler has kept back. The stream ends with them.
func (e *Encoder) Rest() []byte {
	if e.down == nil {
		return nil
	}
	return e.law(voice.FloatToPCM16(e.narrow[:0], e.down.Flush(nil)))
}

func (e *Encoder) law(pcm []int16) []byte {
	if e.format == wire.FormatPCMU {
		return voice.AppendMuLaw(nil, pcm)
	}
	return voice.AppendALaw(nil, pcm)
}

// Encode converts a whole recording at OutputRate into a client's format.
func Encode(format string, pcm []int16) ([]byte, error) {
	e, err := NewEncoder(format)
	if err != nil {
		return nil, err
	}
	return append(e.Encode(pcm), e.Rest()...), nil
}
