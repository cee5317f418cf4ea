package rtc

import (
	"errors"
	"fmt"

	"github.com/thesyncim/gopus"
)

// The Opus codec: encodes and decodes with gopus, and survives packets that break the decoder.

// encoder turns frames of PCM into Opus packets. It belongs to one goroutine.
type encoder interface {
	// Encode encodes exactly FrameSize samples into packet and returns the packet's length in bytes.
	Encode(pcm []int16, packet []byte) (int, error)
	// Reset forgets earlier frames, so that nothing of them is heard in the next frame.
	Reset()
}

// decoder turns a stream of Opus packets into PCM. It belongs to one goroutine.
type decoder interface {
	// Decode decodes a packet into pcm, which has room for maxPacket samples, and returns their number.
	Decode(packet []byte, pcm []int16) (int, error)
	// Conceal makes up the len(pcm) samples of a lost packet, at most FrameSize, in multiples of 2.5 ms.
	Conceal(pcm []int16) error
	// Recover decodes the packet before this one from this packet's in-band redundancy into pcm, which has the length of the
	// earlier packet. It reports false if packet has no redundancy.
	Recover(packet []byte, pcm []int16) bool
}

const (
	// maxPacket is 120 ms, the longest Opus packet (RFC 6716 section 3.2.5).
	maxPacket = Rate * 120 / 1000
	// maxOpusBytes is more than any packet has at the bitrates that Config allows.
	maxOpusBytes = 1275
)

// silentPacket returns a 20 ms Opus packet of silence: fullband CELT, mono, whose two bytes of payload say "silent".
func silentPacket() []byte { return []byte{0xF8, 0xFF, 0xFE} }

// opusEncoder encodes with gopus at 24 kHz mono, with Opus' low-delay application. In gopus this costs half as much time as the
// application for speech and delays 4 ms less. It has the same mode as silentPacket, so that pauses need no change of mode. It
// has no in-band redundancy against loss; the client conceals lost packets.
type opusEncoder struct{ enc *gopus.Encoder }

func newOpusEncoder(complexity, bitrate int) (*opusEncoder, error) {
	enc, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: Rate, Channels: 1, Application: gopus.ApplicationLowDelay})
	if err != nil {
		return nil, fmt.Errorf("rtc: Opus encoder: %w", err)
	}
	err = errors.Join(enc.SetFrameSize(FrameSize), enc.SetComplexity(complexity), enc.SetBitrate(bitrate))
	if err != nil {
		return nil, fmt.Errorf("rtc: Opus encoder: %w", err)
	}
	return &opusEncoder{enc: enc}, nil
}

func (e *opusEncoder) Encode(pcm []int16, packet []byte) (int, error) {
	n, err := e.enc.EncodeInt16(pcm, packet)
	if err == nil && n == 0 {
		err = errors.New("rtc: Opus encoder gave no packet")
	}
	return n, err
}

func (e *opusEncoder) Reset() { e.enc.Reset() }

// opusDecoder decodes with gopus to 24 kHz mono; stereo packets are mixed down by the codec.
type opusDecoder struct {
	dec   *gopus.Decoder
	float []float32 // one frame for Recover: gopus decodes redundancy to floats only
}

func newOpusDecoder() (*opusDecoder, error) {
	d := &opusDecoder{float: make([]float32, FrameSize)}
	return d, d.renew()
}

// renew replaces the decoder by a new one.
func (d *opusDecoder) renew() (err error) {
	d.dec, err = gopus.NewDecoder(gopus.DefaultDecoderConfig(Rate, 1))
	if err != nil {
		return fmt.Errorf("rtc: Opus decoder: %w", err)
	}
	return nil
}

// errGarbled means that a packet broke the decoder, which was replaced.
var errGarbled = errors.New("rtc: Opus packet broke the decoder")

// guard turns a panic inside the decoder into an error. The decoder reads bytes of strangers, and one garbled packet must not end
// all other calls of the process. The decoder's state is then unknown, so guard replaces it.
func (d *opusDecoder) guard(err *error) {
	if cause := recover(); cause != nil {
		*err = errors.Join(fmt.Errorf("%w: %v", errGarbled, cause), d.renew())
	}
}

func (d *opusDecoder) Decode(packet []byte, pcm []int16) (n int, err error) {
	if len(packet) == 0 {
		return 0, errors.New("rtc: empty Opus packet")
	}
	defer d.guard(&err)
	return d.dec.DecodeInt16(packet, pcm)
}

func (d *opusDecoder) Conceal(pcm []int16) (err error) {
	defer d.guard(&err)
	// gopus conceals as much as the buffer holds, so the buffer has exactly the lost length.
	_, err = d.dec.DecodeInt16(nil, pcm)
	return err
}

func (d *opusDecoder) Recover(packet []byte, pcm []int16) (ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer d.guard(&err)
	if len(pcm) > len(d.float) || !gopus.PacketHasLBRR(packet) {
		return false
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
