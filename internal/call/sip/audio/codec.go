package audio

import (
	"bytes"
	"errors"
	"slices"

	"github.com/gotranspile/g722"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The codecs of the telephone network: PCM at 24 kHz from and to the payload of a packet.

// codec is a format of audio.
type codec struct {
	name    string
	mapping string // in a=rtpmap
	static  uint8  // the payload type that it has without a mapping (RFC 3551); without one, the number in our offers
	clock   uint32 // of its RTP timestamps
	silence []byte // a packet of silence; nil where each packet needs those before it
	encode  func() (opus.Encoding, error)
	decode  func() (opus.Decoding, error)
}

// codecs are those that this package has, in the order in which it offers them.
var codecs = []*codec{
	{
		"opus", "opus/48000/2", 96, 48000, opus.SilentPacket(),
		func() (opus.Encoding, error) { return opus.NewEncoder(1, 24_000) },
		func() (opus.Decoding, error) { return opus.NewDecoder() },
	},
	{ // its clock is not its sample rate: RFC 3551 section 4.5.2
		"g722", "G722/8000", 9, 8000, nil,
		func() (opus.Encoding, error) { return newEncoder(wide, g722Encoder()) },
		func() (opus.Decoding, error) { return newDecoder(wide, g722Decoder()) },
	},
	{
		"pcmu", "PCMU/8000", 0, 8000, bytes.Repeat([]byte{0xff}, perFrame),
		func() (opus.Encoding, error) { return newEncoder(narrow, voice.AppendMuLaw) },
		func() (opus.Decoding, error) { return newDecoder(narrow, voice.MuLawToPCM16) },
	},
	{
		"pcma", "PCMA/8000", 8, 8000, bytes.Repeat([]byte{0xd5}, perFrame),
		func() (opus.Encoding, error) { return newEncoder(narrow, voice.AppendALaw) },
		func() (opus.Decoding, error) { return newDecoder(narrow, voice.ALawToPCM16) },
	},
}

// codecOf returns the codec with that name and clock, or nil.
func codecOf(name string, clock uint32) *codec {
	for _, c := range codecs {
		if c.name == name && c.clock == clock {
			return c
		}
	}
	return nil
}

// ticks returns how many ticks of the codec's clock a frame of 20 ms has.
func (c *codec) ticks() uint32 { return c.clock / 50 }

// narrow is the sample rate of G.711, and wide that of G.722. Both have as many bytes a second as narrow has samples.
const narrow, wide = 8000, 16_000

// perFrame is how many bytes of G.711 and G.722 a frame has.
const perFrame = narrow / 50

// encoder encodes G.711 or G.722.
type encoder struct {
	code func(dst []byte, src []int16) []byte
	rate int
	down *voice.Resampler
	pcm  []int16
}

func newEncoder(rate int, code func([]byte, []int16) []byte) (opus.Encoding, error) {
	down, err := voice.NewResampler(opus.Rate, rate)
	e := &encoder{code: code, rate: rate, down: down}
	if err == nil {
		e.Reset()
	}
	return e, err
}

// Encode implements opus.Encoding.
func (e *encoder) Encode(pcm []int16, packet []byte) (int, error) {
	e.pcm = e.down.AppendPCM16(e.pcm, pcm)
	samples := len(pcm) * e.rate / opus.Rate
	n := len(e.code(packet[:0], e.pcm[:samples]))
	e.pcm = e.pcm[:copy(e.pcm, e.pcm[samples:])]
	return n, nil
}

// Reset implements opus.Encoding.
func (e *encoder) Reset() {
	e.down.Reset()
	e.pcm = primed(e.pcm, e.down, e.rate, opus.Rate)
}

// g722Encoder and g722Decoder return the coding of a stream of G.722 with 64 kbit/s.
func g722Encoder() func([]byte, []int16) []byte {
	e := g722.NewEncoder(g722.Rate64000, 0)
	return func(dst []byte, src []int16) []byte {
		n := len(dst)
		dst = slices.Grow(dst, len(src)/2)[:n+len(src)/2]
		return dst[:n+e.Encode(dst[n:], src)]
	}
}

func g722Decoder() func([]int16, []byte) []int16 {
	d := g722.NewDecoder(g722.Rate64000, 0)
	return func(dst []int16, src []byte) []int16 {
		n := len(dst)
		dst = slices.Grow(dst, 2*len(src))[:n+2*len(src)]
		return dst[:n+d.Decode(dst[n:], src)]
	}
}

// primed returns as much silence as the resampler holds back at its beginning: so each frame brings a whole frame.
func primed(pcm []int16, r *voice.Resampler, to, from int) []int16 {
	return append(pcm[:0], make([]int16, int(r.Latency())*to/from+1)...)
}

// The pitches of voices are from 1/400 s to 15 ms. remembered is how many of the longest of the audio before a loss are kept.
const (
	highestPitch = 400
	longestPitch = 15 // ms
	remembered   = 3
)

// fades is how long a made-up sound takes to become silent, in ms.
const fades = 60

// decoder decodes G.711 or G.722, and makes up what is lost: it repeats the last period of the voice, softer from frame to frame.
type decoder struct {
	code func(dst []int16, src []byte) []int16
	rate int
	up   *voice.Resampler
	pcm  []int16 // at 24 kHz, not yet returned
	one  []int16 // one packet at rate
	past []int16 // the last of what was decoded, at rate
	lost int     // samples made up since the last packet
}

func newDecoder(rate int, code func([]int16, []byte) []int16) (opus.Decoding, error) {
	up, err := voice.NewResampler(rate, opus.Rate)
	if err != nil {
		return nil, err
	}
	return &decoder{code: code, rate: rate, up: up, pcm: primed(nil, up, opus.Rate, rate)}, nil
}

// Decode implements opus.Decoding. A packet of one or two bytes is comfort noise (RFC 3389): silence of a frame.
func (d *decoder) Decode(packet []byte, pcm []int16) (int, error) {
	d.one = d.one[:0]
	switch n := len(packet); {
	case n*opus.Rate/narrow > len(pcm):
		return 0, errors.New("audio: a packet of G.711 or G.722 has more than 120 ms")
	case n <= 2:
		d.one = append(d.one, make([]int16, d.rate/50)...)
	default:
		d.one = d.code(d.one, packet)
	}
	d.lost = 0
	d.remember(d.one)
	return d.out(pcm), nil
}

// out resamples the packet in one, and returns how much of pcm it fills: exactly the length of the packet.
func (d *decoder) out(pcm []int16) int {
	d.pcm = d.up.AppendPCM16(d.pcm, d.one)
	n := copy(pcm[:len(d.one)*opus.Rate/d.rate], d.pcm)
	d.pcm = d.pcm[:copy(d.pcm, d.pcm[n:])]
	return n
}

// longest is the longest pitch in samples.
func (d *decoder) longest() int { return d.rate * longestPitch / 1000 }

func (d *decoder) remember(pcm []int16) {
	d.past = append(d.past, pcm...)
	if extra := len(d.past) - remembered*d.longest(); extra > 0 {
		d.past = d.past[:copy(d.past, d.past[extra:])]
	}
}

// Conceal implements opus.Decoding.
func (d *decoder) Conceal(pcm []int16) error {
	d.one = d.one[:0]
	period, silent := d.pitch(), d.rate*fades/1000
	for range len(pcm) * d.rate / opus.Rate {
		s := 0
		if gain := max(0, silent-d.lost); period > 0 {
			s = int(d.past[len(d.past)-period+d.lost%period]) * gain / silent
		}
		d.one = append(d.one, int16(s))
		d.lost++
	}
	if n := d.out(pcm); n < len(pcm) {
		clear(pcm[n:])
	}
	return nil
}

// pitch returns the period after which the end of the past is most like itself; 0 if too little is remembered.
func (d *decoder) pitch() (best int) {
	longest := d.longest()
	if len(d.past) < remembered*longest {
		return 0
	}
	tail := d.past[len(d.past)-longest:]
	most := int64(0)
	for lag := d.rate / highestPitch; lag <= longest; lag++ {
		sum := int64(0)
		for i, s := range tail {
			sum += int64(s) * int64(d.past[len(d.past)-longest-lag+i])
		}
		if best == 0 || sum > most {
			best, most = lag, sum
		}
	}
	return best
}

// Redundant implements opus.Decoding: a packet has no copy of another.
func (d *decoder) Redundant([]byte) bool { return false }

// Recover implements opus.Decoding.
func (d *decoder) Recover([]byte, []int16) bool { return false }
