// Package opus encodes and decodes Opus with gopus, mono at 24 kHz, and survives packets that break the decoder.
package opus

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thesyncim/gopus"
)

// Encoding turns frames of PCM into Opus packets. It belongs to one goroutine.
type Encoding interface {
	// Encode encodes exactly FrameSize samples into packet and returns the packet's length in bytes.
	Encode(pcm []int16, packet []byte) (int, error)
	// Reset forgets earlier frames, so that nothing of them is heard in the next frame.
	Reset()
}

// Decoding turns a stream of Opus packets into PCM. It belongs to one goroutine.
type Decoding interface {
	// Decode decodes a packet into pcm, which has room for MaxPacket samples, and returns their number.
	Decode(packet []byte, pcm []int16) (int, error)
	// Conceal makes up the len(pcm) samples of a lost packet, at most FrameSize, in multiples of 2.5 ms.
	Conceal(pcm []int16) error
	// Redundant reports whether packet has a copy of the packet before it (in-band redundancy).
	Redundant(packet []byte) bool
	// Recover decodes the packet before this one from this packet's in-band redundancy into pcm, which has the length of the
	// earlier packet, at most MaxPacket. It reports false if packet has no redundancy of that length.
	Recover(packet []byte, pcm []int16) bool
}

const (
	// Rate is the sample rate of all PCM in this package, in samples per second.
	Rate = 24_000
	// FrameSize is the number of samples in 20 ms, the length of every encoded packet.
	FrameSize = Rate / 50
	// MaxPacket is 120 ms, the longest Opus packet (RFC 6716 section 3.2.5).
	MaxPacket = Rate * 120 / 1000
	// MaxBytes is more than any packet has at the bitrates that rtc.Config allows.
	MaxBytes = 1275
)

// SilentPacket returns a 20 ms Opus packet of silence: fullband CELT, mono, whose two bytes of payload say "silent".
func SilentPacket() []byte { return slices.Clone(silentPacket) }

var silentPacket = []byte{0xF8, 0xFF, 0xFE}

// Encoder encodes with gopus at 24 kHz mono, with Opus' low-delay application. In gopus this costs half as much time as the
// application for speech and delays 4 ms less. It has the same mode as SilentPacket, so that pauses need no change of mode. It
// has no in-band redundancy against loss; the client conceals lost packets.
//
// The first packet after a reset predicts nothing from earlier packets (RFC 6716 section 4.3.2.1). The client's decoder is not reset with
// the encoder: it has decoded packets of silence or of another response. If the encoder predicted from energies that the decoder does not
// have, the decoder would give the first packet up to 27 dB too soft, or 10 dB too loud, and need 100 ms to recover.
type Encoder struct {
	enc   *gopus.Encoder
	begun bool // a packet was encoded since the reset
}

// NewEncoder returns an encoder. complexity is Opus' own, 0 to 10; bitrate is in bits per second.
func NewEncoder(complexity, bitrate int) (*Encoder, error) {
	enc, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: Rate, Channels: 1, Application: gopus.ApplicationLowDelay})
	if err != nil {
		return nil, fmt.Errorf("rtc: Opus encoder: %w", err)
	}
	err = errors.Join(enc.SetFrameSize(FrameSize), enc.SetComplexity(complexity), enc.SetBitrate(bitrate))
	if err != nil {
		return nil, fmt.Errorf("rtc: Opus encoder: %w", err)
	}
	e := &Encoder{enc: enc}
	e.Reset()
	return e, nil
}

// Encode implements Encoding.
func (e *Encoder) Encode(pcm []int16, packet []byte) (int, error) {
	n, err := e.enc.EncodeInt16(pcm, packet)
	if err == nil && n == 0 {
		err = errors.New("rtc: Opus encoder gave no packet")
	}
	if !e.begun {
		e.begun = true
		e.enc.SetPredictionDisabled(false)
	}
	return n, err
}

// Reset implements Encoding.
func (e *Encoder) Reset() {
	e.enc.Reset()
	e.begun = false
	e.enc.SetPredictionDisabled(true)
}

// Decoder decodes with gopus to 24 kHz mono; stereo packets are mixed down by the codec.
type Decoder struct {
	dec   *gopus.Decoder
	float []float32 // the samples of one packet, for Recover: gopus decodes redundancy to floats only
	quiet int       // packets of silence in a row, at most settled
}

// settled is after how many packets of silence nothing of the sound before is left in the decoder. All further packets of silence are
// silence, and leave the decoder as it is.
const settled = 3

// NewDecoder returns a decoder of one stream.
func NewDecoder() (*Decoder, error) {
	d := &Decoder{float: make([]float32, FrameSize)}
	return d, d.renew()
}

// renew replaces the decoder by a new one.
func (d *Decoder) renew() (err error) {
	d.quiet = 0
	d.dec, err = gopus.NewDecoder(gopus.DefaultDecoderConfig(Rate, 1))
	if err != nil {
		return fmt.Errorf("rtc: Opus decoder: %w", err)
	}
	return nil
}

// ErrGarbled means that a packet broke the decoder, which was replaced.
var ErrGarbled = errors.New("rtc: Opus packet broke the decoder")

// guard turns a panic inside the decoder into an error. The decoder reads bytes of strangers, and one garbled packet must not end
// all other calls of the process. The decoder's state is then unknown, so guard replaces it.
func (d *Decoder) guard(err *error) {
	if cause := recover(); cause != nil {
		*err = errors.Join(fmt.Errorf("%w: %v", ErrGarbled, cause), d.renew())
	}
}

// Decode implements Decoding.
func (d *Decoder) Decode(packet []byte, pcm []int16) (n int, err error) {
	if len(packet) == 0 {
		return 0, errors.New("rtc: empty Opus packet")
	}
	if !slices.Equal(packet, silentPacket) {
		d.quiet = 0
	} else if d.quiet == settled && len(pcm) >= FrameSize {
		clear(pcm[:FrameSize]) // most clients that are muted send nothing else
		return FrameSize, nil
	} else {
		d.quiet = min(d.quiet+1, settled)
	}
	defer d.guard(&err)
	return d.dec.DecodeInt16(packet, pcm)
}

// Conceal implements Decoding.
func (d *Decoder) Conceal(pcm []int16) (err error) {
	d.quiet = 0
	defer d.guard(&err)
	// gopus conceals as much as the buffer holds, so the buffer has exactly the lost length.
	_, err = d.dec.DecodeInt16(nil, pcm)
	return err
}

// Redundant implements Decoding.
func (d *Decoder) Redundant(packet []byte) (yes bool) {
	var err error
	defer func() { yes = yes && err == nil }()
	defer d.guard(&err)
	return gopus.PacketHasLBRR(packet)
}

// Recover implements Decoding.
func (d *Decoder) Recover(packet []byte, pcm []int16) (ok bool) {
	d.quiet = 0
	var err error
	defer func() { ok = ok && err == nil }()
	defer d.guard(&err)
	if len(pcm) > MaxPacket || !gopus.PacketHasLBRR(packet) {
		return false
	}
	if len(pcm) > len(d.float) {
		d.float = make([]float32, len(pcm))
	}
	n, err := d.dec.DecodeWithFEC(packet, d.float[:len(pcm)], true)
	if err != nil || n != len(pcm) {
		return false
	}
	for i, v := range d.float[:n] {
		pcm[i] = int16(max(-32768, min(32767, v*32768)))
	}
	return true
}
