// Package opus encodes and decodes Opus with gopus, mono at 24 kHz, and survives packets that break the decoder.
package opus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

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

// The methods of Encoding.
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

func (e *Encoder) Reset() {
	e.enc.Reset()
	e.begun = false
	e.enc.SetPredictionDisabled(true)
}

// Decoder decodes with gopus to 24 kHz mono; stereo packets are mixed down by the codec. A decoder of gopus has 200 kB: a Decoder that gets
// nothing but silence has none.
type Decoder struct {
	dec   *gopus.Decoder // nil while quiet is settled
	float []float32      // the samples of one packet, for Recover: gopus decodes redundancy to floats only
	last  byte           // the first byte of the last packet that was decoded
	quiet int            // packets of silence in a row, at most settled
}

// settled is after how many packets of silence nothing of the sound before is left in the decoder. All further packets of silence are
// silence, and leave the decoder as it is: as they leave any other decoder that has had as many.
const settled = 3

// decoders has the decoders of gopus that no Decoder has.
var decoders sync.Pool

// NewDecoder returns a decoder of one stream.
func NewDecoder() (*Decoder, error) {
	d := &Decoder{float: make([]float32, FrameSize)}
	return d, d.renew()
}

// renew replaces the decoder of gopus by one at the beginning of a stream.
func (d *Decoder) renew() (err error) {
	d.quiet = 0
	if dec, ok := decoders.Get().(*gopus.Decoder); ok {
		dec.Reset()
		d.dec = dec
		return nil
	}
	if d.dec, err = gopus.NewDecoder(gopus.DefaultDecoderConfig(Rate, 1)); err != nil {
		return fmt.Errorf("rtc: Opus decoder: %w", err)
	}
	return nil
}

// wake ends the silence: the decoder must decode what follows.
func (d *Decoder) wake() (err error) {
	asleep := d.quiet == settled
	if d.quiet = 0; !asleep {
		return nil
	}
	err = d.renew()
	for n := 0; err == nil && n < settled; n++ {
		_, err = d.dec.Decode(silentPacket, d.float)
	}
	return err
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

// The methods of Decoding.
func (d *Decoder) Decode(packet []byte, pcm []int16) (n int, err error) {
	if len(packet) == 0 || packet[0]&3 != 0 { // several frames: gopus would decode those before a fault in the lengths, and hear them later
		if _, err := gopus.ParsePacket(packet); err != nil {
			return 0, fmt.Errorf("rtc: Opus packet: %w", err)
		}
	}
	if packet[0]&0x87 == 0x84 && len(packet) > 2 && packet[1] == 0xFF && packet[2] >= 0xFE { // stereo CELT that says "silent"
		packet = append([]byte{packet[0] &^ 4}, packet[1:]...) // as mono: to stereo gopus gives zeros at once, and cuts the sound before
	}
	silent := slices.Equal(packet, silentPacket) && len(pcm) >= FrameSize
	if silent && d.quiet == settled {
		clear(pcm[:FrameSize]) // most clients that are muted send nothing else
		return FrameSize, nil
	}
	defer d.guard(&err)
	if !silent {
		err = d.wake()
	}
	if err == nil {
		n, err = d.dec.DecodeInt16(packet, pcm)
	}
	if err == nil {
		d.last = packet[0]
	}
	if silent && err == nil {
		if d.quiet++; d.quiet == settled {
			decoders.Put(d.dec)
			d.dec = nil
		}
	}
	return n, err
}

func (d *Decoder) Conceal(pcm []int16) (err error) {
	defer d.guard(&err)
	if err = d.wake(); err != nil {
		return err
	}
	// After hybrid stereo gopus conceals a wrong sound, 2 dB too loud. It conceals the right one frame by frame, when it looks for redundancy in
	// a mono packet that has none.
	if frame := Rate / 100 << (d.last >> 3 & 1); d.last&0xE4 == 0x64 {
		for len(pcm) >= frame && d.redundancy([]byte{d.last &^ 7, 0, 0, 0}, pcm[:frame]) {
			if pcm = pcm[frame:]; len(pcm) == 0 {
				return nil
			}
		}
	}
	// gopus conceals as much as the buffer holds, so the buffer has exactly the lost length.
	_, err = d.dec.DecodeInt16(nil, pcm)
	return err
}

func (d *Decoder) Redundant(packet []byte) (yes bool) {
	var err error
	defer func() { yes = yes && err == nil }()
	defer d.guard(&err)
	return gopus.PacketHasLBRR(packet)
}

func (d *Decoder) Recover(packet []byte, pcm []int16) (ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer d.guard(&err)
	if len(pcm) > MaxPacket || !gopus.PacketHasLBRR(packet) {
		return false
	}
	if err = d.wake(); err != nil {
		return false
	}
	return d.redundancy(packet, pcm)
}

// redundancy decodes into pcm the copy of an earlier packet that packet has, or conceals if it has none.
func (d *Decoder) redundancy(packet []byte, pcm []int16) bool {
	if len(pcm) > len(d.float) {
		d.float = make([]float32, len(pcm))
	}
	n, err := d.dec.DecodeWithFEC(packet, d.float[:len(pcm)], true)
	if err != nil || n != len(pcm) {
		return false
	}
	for i, v := range d.float[:n] {
		pcm[i] = int16(max(-32768, min(32767, math.RoundToEven(float64(v)*32768))))
	}
	return true
}
