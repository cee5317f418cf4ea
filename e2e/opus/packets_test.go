package opus

// Packets of a person's speech, as two encoders make them in every mode, and mutations of them.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/thesyncim/gopus"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// fullRate is the rate at which packets are made: at less, an encoder makes none of the full band.
const fullRate = 48_000

// speech returns at least that many seconds of prompts whose names begin with a to m, at a rate.
func speech(t testing.TB, rate int, seconds float64) (pcm []int16) {
	t.Helper()
	g := gomega.NewWithT(t)
	texts, err := human.Texts()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	up, err := voice.NewResampler(human.Rate, rate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if len(texts[name]) < 40 || name[0] < 'a' || name[0] > 'm' {
			continue
		}
		said, err := human.Prompt(name)
		g.Expect(err).NotTo(gomega.HaveOccurred(), name)
		if pcm = up.AppendPCM16(pcm, said); float64(len(pcm)) >= seconds*float64(rate) {
			return pcm
		}
	}
	t.Fatal("the prompts are too short")
	return nil
}

// form is how an encoder makes packets.
type form struct {
	mode     int // 0 SILK, 1 hybrid, 2 CELT
	band     int // 0 narrow to 4 full
	length   int // of a packet, in samples at fullRate
	channels int
	fec, dtx bool
	cbr      bool
}

func (f form) String() string {
	return fmt.Sprintf("%s %s %.1f ms %d ch fec=%t dtx=%t cbr=%t", []string{"SILK", "hybrid", "CELT"}[f.mode], []string{"NB", "MB", "WB", "SWB", "FB"}[f.band],
		float64(f.length)/48, f.channels, f.fec, f.dtx, f.cbr)
}

// forms are all of them: each mode with each of its bands and lengths, mono and stereo, with redundancy, with pauses left out, and at a constant rate.
func forms() (all []form) {
	for mode, bands := range [][]int{{0, 1, 2}, {3, 4}, {0, 2, 3, 4}} {
		for _, length := range [][]int{{480, 960, 1920, 2880}, {480, 960}, {120, 240, 480, 960}}[mode] {
			for _, band := range bands {
				for channels := 1; channels <= 2; channels++ {
					all = append(all, form{mode: mode, band: band, length: length, channels: channels},
						form{mode: mode, band: band, length: length, channels: channels, cbr: true})
					if mode < 2 {
						all = append(all, form{mode: mode, band: band, length: length, channels: channels, fec: true, dtx: channels == 1})
					}
				}
			}
		}
	}
	return all
}

// bitrate is what the form gets, in bit/s.
func (f form) bitrate() int { return []int{16_000, 32_000, 48_000}[f.mode] * f.channels }

// frames cuts speech into what the form encodes at a time. The right channel of stereo is the left one, 1 ms later and softer.
func (f form) frames(pcm []int16) (frames [][]int16) {
	for at := 48; at+f.length <= len(pcm); at += f.length {
		var frame []int16
		for i := at; i < at+f.length; i++ {
			frame = append(frame, pcm[i])
			if f.channels == 2 {
				frame = append(frame, pcm[i-48]/2)
			}
		}
		frames = append(frames, frame)
	}
	return frames
}

const maxBytes = 1275

// byLibopus encodes frames with libopus.
func (f form) byLibopus(t testing.TB, lib *library, frames [][]int16) (packets [][]byte) {
	g, status := gomega.NewWithT(t), int32(0)
	e := lib.NewEncoder(fullRate, int32(f.channels), forVoIP, &status)
	g.Expect(status).To(gomega.BeZero())
	defer lib.CloseEncoder(e)
	for _, set := range [][2]int32{
		{setBitrate, int32(f.bitrate())},
		{setMode, 1000 + int32(f.mode)},
		{setBandwidth, 1101 + int32(f.band)},
		{setVBR, oneIf(!f.cbr)},
		{setFEC, oneIf(f.fec)},
		{setLoss, 20 * oneIf(f.fec)},
		{setDTX, oneIf(f.dtx)},
		{setComplexity, 5},
	} {
		g.Expect(lib.SetEncoder(e, set[0], set[1])).To(gomega.BeZero(), "%v", set)
	}
	for _, frame := range frames {
		packet := make([]byte, maxBytes)
		n := lib.Encode(e, &frame[0], int32(f.length), &packet[0], maxBytes)
		g.Expect(n).To(gomega.BeNumerically(">", 0), f.String())
		packets = append(packets, packet[:n])
	}
	return packets
}

func oneIf(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}

// byGopus encodes frames with gopus.
func (f form) byGopus(t testing.TB, frames [][]int16) (packets [][]byte) {
	g := gomega.NewWithT(t)
	e, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: fullRate, Channels: f.channels, Application: gopus.ApplicationVoIP})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	e.SetVBR(!f.cbr)
	e.SetFEC(f.fec)
	e.SetDTX(f.dtx)
	for _, err := range []error{
		e.SetFrameSize(f.length), e.SetBitrate(f.bitrate()), e.SetComplexity(5), e.SetPacketLoss(20 * int(oneIf(f.fec))),
		e.SetMode([]gopus.EncoderMode{gopus.EncoderModeSILK, gopus.EncoderModeHybrid, gopus.EncoderModeCELT}[f.mode]),
		e.SetBandwidth(gopus.Bandwidth(f.band)),
	} {
		g.Expect(err).NotTo(gomega.HaveOccurred(), f.String())
	}
	for _, frame := range frames {
		packet := make([]byte, maxBytes)
		n, err := e.EncodeInt16(frame, packet)
		g.Expect(err).NotTo(gomega.HaveOccurred(), f.String())
		if n > 0 {
			packets = append(packets, packet[:n])
		}
	}
	return packets
}

// joined puts up to n packets in a row into one, as a packet of several frames (codes 1, 2 and 3).
func joined(g *gomega.WithT, lib *library, packets [][]byte, n int) (all [][]byte) {
	for len(packets) > 0 {
		r, took := lib.NewRepacker(), 0
		for took < min(n, len(packets)) && lib.Repack(r, &packets[took][0], int32(len(packets[took]))) == 0 {
			took++
		}
		packet := make([]byte, 8*maxBytes)
		size := lib.Repacked(r, &packet[0], int32(len(packet)))
		lib.CloseRepacker(r)
		g.Expect(took).To(gomega.BeNumerically(">", 0))
		g.Expect(size).To(gomega.BeNumerically(">", 0))
		all, packets = append(all, packet[:size]), packets[took:]
	}
	return all
}

// padded returns a copy of a packet with that many bytes of padding.
func (l *library) padded(packet []byte, by int) []byte {
	p := append(slices.Clone(packet), make([]byte, by)...)
	if by > 0 && l.Pad(&p[0], int32(len(packet)), int32(len(p))) != 0 {
		return packet // garbled already
	}
	return p
}

// mutated returns a copy of a packet with a fault of one of ten kinds. The copy has at least one byte.
func (l *library) mutated(r *rand.Rand, packet, other []byte) []byte {
	p := slices.Clone(packet)
	somewhere := func() int { return r.IntN(len(p)) }
	switch r.IntN(10) {
	case 0: // some bits
		for range 1 + r.IntN(8) {
			p[somewhere()] ^= 1 << r.IntN(8)
		}
	case 1: // some bytes
		for range 1 + r.IntN(4) {
			p[somewhere()] = byte(r.Uint32())
		}
	case 2: // too short
		p = p[:1+somewhere()]
	case 3: // too long
		for range 1 + r.IntN(60) {
			p = append(p, byte(r.Uint32()))
		}
	case 4: // the first byte: mode, band, length, channels, code
		p[0] = byte(r.Uint32())
	case 5: // the code, and how many frames of which kind
		p[0] |= 3
		p[min(1, len(p)-1)] = byte(r.Uint32())
	case 6: // padding, then some bits
		p = l.padded(p, 1+r.IntN(300))
		for range r.IntN(4) {
			p[somewhere()] ^= 1 << r.IntN(8)
		}
	case 7: // the end of another packet
		p = append(p[:1+somewhere()], other[r.IntN(len(other)):]...)
	case 8: // noise of the same length
		for i := 1; i < len(p); i++ {
			p[i] = byte(r.Uint32())
		}
	case 9: // a piece left out or said twice
		from := somewhere()
		to := from + r.IntN(len(p)-from)
		p = slices.Insert(p, r.IntN(len(p)), slices.Clone(p[from:to])...)
		if r.IntN(2) == 0 && to-from < len(p) {
			p = slices.Delete(p, from, to)
		}
	}
	return p
}

// stream is packets in a row of one encoder.
type stream struct {
	name    string
	packets [][]byte
}

// streams encodes speech in every form with both encoders, and once more with several frames in a packet.
func streams(t testing.TB, lib *library, seconds float64) (all []stream) {
	g := gomega.NewWithT(t)
	pcm, length := speech(t, fullRate, 20), int(seconds*fullRate)
	for i, f := range forms() {
		from := i * 31_000 % (len(pcm) - length)
		cut := f.frames(pcm[from : from+length])
		for by, packets := range map[string][][]byte{"libopus": f.byLibopus(t, lib, cut), "gopus": f.byGopus(t, cut)} {
			all = append(all, stream{by + ", " + f.String(), packets})
			if f.length < 2880 {
				all = append(all, stream{by + ", joined, " + f.String(), joined(g, lib, packets, 2+i%4)})
			}
		}
	}
	slices.SortFunc(all, func(a, b stream) int { return strings.Compare(a.name, b.name) })
	return all
}
