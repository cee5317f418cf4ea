package session

import (
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// lawRate is the sample rate of G.711 in hertz.
const lawRate = 8000

// intake makes samples at inputRate of a client's bytes. The zero value is ready.
type intake struct {
	format string           // of the stream that goes on
	up     *voice.Resampler // of it, nil for PCM
	narrow []int16
}

// samples converts the next bytes of the client's stream. A format that is new begins a new stream.
func (t *intake) samples(format string, audio []byte) ([]int16, error) {
	if t.format != format {
		*t = intake{format: format}
		if format != wire.FormatPCM {
			up, err := voice.NewResampler(lawRate, inputRate)
			if err != nil {
				return nil, err
			}
			t.up = up
		}
	}
	switch format {
	case wire.FormatPCMU:
		t.narrow = voice.MuLawToPCM16(t.narrow[:0], audio)
	case wire.FormatPCMA:
		t.narrow = voice.ALawToPCM16(t.narrow[:0], audio)
	default:
		return voice.BytesToPCM16(nil, audio), nil
	}
	return t.up.AppendPCM16(nil, t.narrow), nil
}

// rest is what the conversion has kept back of the stream, which ends.
func (t *intake) rest() []int16 {
	if t.up == nil {
		return nil
	}
	return voice.FloatToPCM16(nil, t.up.Flush(nil))
}

// forget begins a new stream.
func (t *intake) forget() { *t = intake{} }

// outlet makes bytes in a client's format of a reply's samples.
type outlet struct {
	format string
	down   *voice.Resampler // nil for PCM
	narrow []int16
}

func newOutlet(format string) (*outlet, error) {
	if format != wire.FormatPCMU && format != wire.FormatPCMA {
		return &outlet{format: wire.FormatPCM}, nil
	}
	down, err := voice.NewResampler(outputRate, lawRate)
	return &outlet{format: format, down: down}, err
}

// bytes converts the next samples.
func (o *outlet) bytes(pcm []int16) []byte {
	if o.down == nil {
		return voice.PCM16ToBytes(nil, pcm)
	}
	o.narrow = o.down.AppendPCM16(o.narrow[:0], pcm)
	return o.law(o.narrow)
}

// rest is what the conversion has kept back of the stream, which ends.
func (o *outlet) rest() []byte {
	if o.down == nil {
		return nil
	}
	return o.law(voice.FloatToPCM16(o.narrow[:0], o.down.Flush(nil)))
}

func (o *outlet) law(pcm []int16) []byte {
	if o.format == wire.FormatPCMU {
		return voice.AppendMuLaw(nil, pcm)
	}
	return voice.AppendALaw(nil, pcm)
}

// inFormat is a whole recording in a client's format.
func inFormat(format string, pcm []int16) ([]byte, error) {
	o, err := newOutlet(format)
	if err != nil {
		return nil, err
	}
	return append(o.bytes(pcm), o.rest()...), nil
}
