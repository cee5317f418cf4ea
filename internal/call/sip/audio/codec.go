package audio

import (
	"errors"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The codecs of the telephone network: PCM at 24 kHz from and to the payload of a packet.

// codec is a format of audio.
type codec struct {
	name    string
	mapping string // in a=rtpmap
	clock   uint32 // of its RTP timestamps
	encode  func() (opus.Encoding, error)
	decode  func() (opus.Decoding, error)
}

// codecs are those that this package has, in the order in which it offers them.
var codecs = []*codec{
	{
		"opus", "opus/48000/2", 48000,
		func() (opus.Encoding, error) { return opus.NewEncoder(1, 24_000) },
		func() (opus.Decoding, error) { return opus.NewDecoder() },
	},
	{"pcmu", "PCMU/8000", 8000, g711Encoder(voice.AppendMuLaw), g711Decoder(voice.MuLawToPCM16)},
	{"pcma", "PCMA/8000", 8000, g711Encoder(voice.AppendALaw), g711Decoder(voice.ALawToPCM16)},
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

// narrow is the sample rate of G.711.
const narrow = 8000

// g711Out encodes by one of the laws of G.711.
type g711Out struct {
	law  func(dst []byte, src []int16) []byte
	down *voice.Resampler
	pcm  []int16
}

func g711Encoder(law func([]byte, []int16) []byte) func() (opus.Encoding, error) {
	return func() (opus.Encoding, error) {
		down, err := voice.NewResampler(opus.Rate, narrow)
		e := &g711Out{law: law, down: down}
		if err == nil {
			e.Reset()
		}
		return e, err
	}
}

// Encode implements opus.Encoding.
func (e *g711Out) Encode(pcm []int16, packet []byte) (int, error) {
	e.pcm = e.down.AppendPCM16(e.pcm, pcm)
	n := len(pcm) * narrow / opus.Rate
	n = len(e.law(packet[:0], e.pcm[:n]))
	e.pcm = e.pcm[:copy(e.pcm, e.pcm[n:])]
	return n, nil
}

// Reset implements opus.Encoding.
func (e *g711Out) Reset() {
	e.down.Reset()
	e.pcm = primed(e.pcm, e.down, narrow, opus.Rate)
}

// primed returns as much silence as the resampler holds back at its beginning: so each frame brings a whole frame.
func primed(pcm []int16, r *voice.Resampler, to, from int) []int16 {
	return append(pcm[:0], make([]int16, int(r.Latency())*to/from+1)...)
}

// The pitches of voices, in samples at 8 kHz: 2.5 ms to 15 ms.
const minPitch, maxPitch = 20, 120

// remembered is how much of the audio before a loss is kept, in samples at 8 kHz.
const remembered = 3 * maxPitch

// g711In decodes by one of the laws of G.711, and makes up what is lost: it repeats the last period of the voice, softer from frame to frame.
type g711In struct {
	law    func(dst []int16, src []byte) []int16
	up     *voice.Resampler
	pcm    []int16 // at 24 kHz, not yet returned
	narrow []int16 // one packet at 8 kHz
	past   []int16 // the last of what was decoded, at 8 kHz
	lost   int     // samples made up since the last packet
}

func g711Decoder(law func([]int16, []byte) []int16) func() (opus.Decoding, error) {
	return func() (opus.Decoding, error) {
		up, err := voice.NewResampler(narrow, opus.Rate)
		if err != nil {
			return nil, err
		}
		return &g711In{law: law, up: up, pcm: primed(nil, up, opus.Rate, narrow)}, nil
	}
}

// Decode implements opus.Decoding. A packet of one or two bytes is comfort noise (RFC 3389): silence of a frame.
func (d *g711In) Decode(packet []byte, pcm []int16) (int, error) {
	d.narrow = d.narrow[:0]
	switch n := len(packet); {
	case n*opus.Rate/narrow > len(pcm):
		return 0, errors.New("audio: a packet of G.711 has more than 120 ms")
	case n <= 2:
		d.narrow = append(d.narrow, make([]int16, narrow/50)...)
	default:
		d.narrow = d.law(d.narrow, packet)
	}
	d.lost = 0
	d.remember(d.narrow)
	return d.out(pcm), nil
}

// out resamples the packet in narrow, and returns how much of pcm it fills: exactly the length of the packet.
func (d *g711In) out(pcm []int16) int {
	d.pcm = d.up.AppendPCM16(d.pcm, d.narrow)
	n := copy(pcm[:len(d.narrow)*opus.Rate/narrow], d.pcm)
	d.pcm = d.pcm[:copy(d.pcm, d.pcm[n:])]
	return n
}

func (d *g711In) remember(pcm []int16) {
	d.past = append(d.past, pcm...)
	if extra := len(d.past) - remembered; extra > 0 {
		d.past = d.past[:copy(d.past, d.past[extra:])]
	}
}

// Conceal implements opus.Decoding.
func (d *g711In) Conceal(pcm []int16) error {
	d.narrow = d.narrow[:0]
	period := d.pitch()
	for range len(pcm) * narrow / opus.Rate {
		// The gain falls from 1 to 0 within 60 ms.
		gain := max(0, 480-d.lost)
		s := 0
		if period > 0 {
			s = int(d.past[len(d.past)-period+d.lost%period]) * gain / 480
		}
		d.narrow = append(d.narrow, int16(s))
		d.lost++
	}
	if n := d.out(pcm); n < len(pcm) {
		clear(pcm[n:])
	}
	return nil
}

// pitch returns the period after which the end of the past is most like itself; 0 if too little is remembered.
func (d *g711In) pitch() (best int) {
	if len(d.past) < remembered {
		return 0
	}
	tail := d.past[len(d.past)-maxPitch:]
	most := int64(0)
	for lag := minPitch; lag <= maxPitch; lag++ {
		sum := int64(0)
		for i, s := range tail {
			sum += int64(s) * int64(d.past[len(d.past)-maxPitch-lag+i])
		}
		if best == 0 || sum > most {
			best, most = lag, sum
		}
	}
	return best
}

// Redundant implements opus.Decoding: a packet of G.711 has no copy of another.
func (d *g711In) Redundant([]byte) bool { return false }

// Recover implements opus.Decoding.
func (d *g711In) Recover([]byte, []int16) bool { return false }
