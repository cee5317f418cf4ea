//go:build !js

package native

// Opus: encoding frames, and decoding packets with concealment of lost ones.

import (
	"errors"
	"fmt"

	"github.com/thesyncim/gopus"
)

// maxOpusBytes is more than any 20 ms packet at the bit rate used here.
const maxOpusBytes = 1275

// silentPacket returns a packet of 20 ms of silence: a full-band mono frame without sound.
func silentPacket() []byte { return []byte{0xF8, 0xFF, 0xFE} }

// tail is how many silent frames are encoded after sound, so that the codec gives out the end of it.
const tail = 3

// encoder turns frames into packets. In pauses it returns a prepared silent packet, which costs nothing.
type encoder struct {
	enc    *gopus.Encoder
	packet [maxOpusBytes]byte
	quiet  int // silent frames in a row
}

func newEncoder() (*encoder, error) {
	// The low-delay application uses the same mode as the silent packet, so the mode does not change in pauses.
	enc, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: Rate, Channels: 1, Application: gopus.ApplicationLowDelay})
	if err != nil {
		return nil, fmt.Errorf("native: Opus encoder: %w", err)
	}
	if err := errors.Join(enc.SetFrameSize(FrameSize), enc.SetComplexity(5), enc.SetBitrate(32000)); err != nil {
		return nil, fmt.Errorf("native: Opus encoder: %w", err)
	}
	return &encoder{enc: enc, quiet: tail}, nil
}

// encode encodes one frame. The packet is valid until the next call.
func (e *encoder) encode(pcm []int16) ([]byte, error) {
	if silent(pcm) {
		e.quiet++
		if e.quiet > tail {
			return silentPacket(), nil
		}
	} else {
		e.quiet = 0
	}
	n, err := e.enc.EncodeInt16(pcm, e.packet[:])
	if err != nil {
		return nil, fmt.Errorf("native: encode: %w", err)
	}
	return e.packet[:n], nil
}

// silent reports whether every sample is 0.
func silent(pcm []int16) bool {
	for _, v := range pcm {
		if v != 0 {
			return false
		}
	}
	return true
}

// maxConceal is how many lost packets in a row are concealed. Further ones are left out.
const maxConceal = 5

// decoder turns packets into PCM in the order of their sequence numbers.
type decoder struct {
	dec     *gopus.Decoder
	pcm     [Rate * 120 / 1000]int16
	started bool
	next    uint16 // the sequence number of the next packet
	quiet   bool   // the last packet was the silent one
}

func newDecoder() (*decoder, error) {
	d := &decoder{}
	return d, d.renew()
}

func (d *decoder) renew() (err error) {
	if d.dec, err = gopus.NewDecoder(gopus.DefaultDecoderConfig(Rate, 1)); err != nil {
		return fmt.Errorf("native: Opus decoder: %w", err)
	}
	return nil
}

// errGarbled: a packet made the decoder panic, and the decoder was replaced.
var errGarbled = errors.New("native: an Opus packet broke the decoder")

// run decodes a packet into pcm. A packet from outside must not end the program, so a panic of the codec is an error of the
// packet.
func (d *decoder) run(packet []byte, pcm []int16) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = errors.Join(fmt.Errorf("%w: %v", errGarbled, cause), d.renew())
		}
	}()
	return d.dec.DecodeInt16(packet, pcm)
}

// decode gives hear the sound of a packet, and before it the sound that conceals lost packets. It drops late packets.
func (d *decoder) decode(number uint16, packet []byte, hear func([]int16)) error {
	if d.started {
		missing := int16(number - d.next)
		if missing < 0 {
			return nil
		}
		for range min(int(missing), maxConceal) {
			if err := d.conceal(hear); err != nil {
				return err
			}
		}
	}
	d.started, d.next = true, number+1
	if len(packet) == 0 {
		return nil
	}
	if string(packet) == string(silentPacket()) && d.quiet {
		clear(d.pcm[:FrameSize])
		hear(d.pcm[:FrameSize])
		return nil
	}
	if _, err := gopus.ParsePacket(packet); err != nil { // gopus decodes the frames before a fault in the lengths, and gives them out later
		return fmt.Errorf("native: Opus packet: %w", err)
	}
	d.quiet = string(packet) == string(silentPacket())
	n, err := d.run(packet, d.pcm[:])
	if err != nil {
		return fmt.Errorf("native: decode: %w", err)
	}
	hear(d.pcm[:n])
	return nil
}

// conceal makes up the sound of one lost packet. The codec fills the whole slice that it gets, so it gets one frame.
func (d *decoder) conceal(hear func([]int16)) error {
	frame := d.pcm[:FrameSize]
	if d.quiet {
		clear(frame)
	} else if _, err := d.run(nil, frame); err != nil {
		return fmt.Errorf("native: conceal: %w", err)
	}
	hear(frame)
	return nil
}
