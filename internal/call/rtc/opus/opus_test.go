package opus

// A decoder that panics, one that gets much silence, and one that gets the beginning of a response.

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/onsi/gomega"
	"github.com/thesyncim/gopus"
)

// A decoder that panics on a packet is replaced, and nothing else breaks.
func TestOpusDecoderSurvivesItsOwnPanic(t *testing.T) {
	g := gomega.NewWithT(t)
	dec, err := NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	dec.dec = nil // the next call panics
	_, err = dec.Decode([]byte{0xF8, 0xFF, 0xFE}, make([]int16, MaxPacket))
	g.Expect(err).To(gomega.MatchError(ErrGarbled))
	dec.dec = nil
	g.Expect(dec.Conceal(make([]int16, FrameSize))).To(gomega.MatchError(ErrGarbled))
	dec.dec = nil
	g.Expect(dec.Recover([]byte{0x48, 0xFF, 0xFF, 0xFF, 0xFF}, make([]int16, FrameSize))).To(gomega.BeFalse())
	n, err := dec.Decode(SilentPacket(), make([]int16, MaxPacket))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(n).To(gomega.Equal(FrameSize))
}

// A decoder that passes over packets of silence, and gives its decoder of gopus to others meanwhile, gives the same samples as one that decodes
// them all: whatever the mode of Opus, and after a loss.
func TestSilenceIsNotDecoded(t *testing.T) {
	for config, enc := range map[int]gopus.EncoderConfig{
		9:  {SampleRate: 48_000, Channels: 1, Application: gopus.ApplicationVoIP},     // SILK
		15: {SampleRate: 48_000, Channels: 1, Application: gopus.ApplicationAudio},    // hybrid
		31: {SampleRate: 48_000, Channels: 1, Application: gopus.ApplicationLowDelay}, // CELT
	} {
		g := gomega.NewWithT(t)
		stream := voiced(g, enc, map[int]int{9: 10_000, 15: 24_000, 31: 40_000}[config])
		g.Expect(stream[len(stream)/2][0]>>3).To(gomega.BeEquivalentTo(config), "the mode of RFC 6716, table 2")
		others := voiced(g, gopus.EncoderConfig{SampleRate: 48_000, Channels: 1, Application: gopus.ApplicationAudio}, 48_000)
		quick, other, whole := newDecoder(g), newDecoder(g), newDecoder(g)
		got, want := make([]int16, MaxPacket), make([]int16, MaxPacket)
		for stretch := range 4 {
			for i, packet := range stream[stretch*10:][:10] {
				whole.quiet = 0 // it never passes over a packet
				if i == 0 && stretch == 3 {
					g.Expect(quick.Conceal(got[:FrameSize])).To(gomega.Succeed())
					g.Expect(whole.Conceal(want[:FrameSize])).To(gomega.Succeed())
					g.Expect(got[:FrameSize]).To(gomega.Equal(want[:FrameSize]), "config %d: concealment", config)
				}
				g.Expect(quick.Decode(packet, got)).To(gomega.Equal(FrameSize))
				g.Expect(whole.Decode(packet, want)).To(gomega.Equal(FrameSize))
				g.Expect(got[:FrameSize]).To(gomega.Equal(want[:FrameSize]), "config %d, stretch %d, packet %d", config, stretch, i)
			}
			for range 20 {
				g.Expect(quick.Decode(SilentPacket(), got)).To(gomega.Equal(FrameSize))
				whole.quiet = 0
				g.Expect(whole.Decode(SilentPacket(), want)).To(gomega.Equal(FrameSize))
				g.Expect(got[:FrameSize]).To(gomega.Equal(want[:FrameSize]), "config %d, stretch %d: silence", config, stretch)
			}
			g.Expect(quick.dec).To(gomega.BeNil())
			for _, packet := range append(others[stretch*10:][:10:10], SilentPacket(), SilentPacket(), SilentPacket()) {
				g.Expect(other.Decode(packet, got)).To(gomega.Equal(FrameSize))
			}
		}
	}
}

func newDecoder(g *gomega.WithT) *Decoder {
	d, err := NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return d
}

// voiced returns 50 packets of a gliding tone in noise.
func voiced(g *gomega.WithT, config gopus.EncoderConfig, bitrate int) (packets [][]byte) {
	const frame = 960
	enc, err := gopus.NewEncoder(config)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(errors.Join(enc.SetFrameSize(frame), enc.SetBitrate(bitrate))).To(gomega.Succeed())
	noise := rand.New(rand.NewPCG(1, 2))
	for n := range 50 {
		pcm, packet := make([]int16, frame), make([]byte, MaxBytes)
		for i := range pcm {
			x := float64(n*frame + i)
			pcm[i] = int16(8_000*math.Sin(x/40+3*math.Sin(x/9_000))*math.Abs(math.Sin(x/20_000)) + 500*noise.NormFloat64())
		}
		n, err := enc.EncodeInt16(pcm, packet)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		packets = append(packets, packet[:n])
	}
	return packets
}

// The first packets of a response are as loud as the sound, whatever the client's decoder has decoded before: nothing, silence, or another
// response.
func TestAResponseBeginsAtItsLevel(t *testing.T) {
	const amplitude = 12_000
	packet, pcm, out := make([]byte, MaxBytes), make([]int16, FrameSize), make([]int16, MaxPacket)
	for complexity := range 11 {
		g := gomega.NewWithT(t)
		enc, err := NewEncoder(complexity, 40_000)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		dec, err := NewDecoder()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for stretch := range 4 {
			for frame := range 8 {
				for i := range pcm {
					pcm[i] = int16(amplitude * math.Sin(2*math.Pi*300*float64(frame*FrameSize+i)/Rate))
				}
				n, err := enc.Encode(pcm, packet)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				n, err = dec.Decode(packet[:n], out)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				var sum float64
				for _, v := range out[codecDelay:n] { // the sound before is not of this response
					sum += float64(v) * float64(v)
				}
				level := math.Sqrt(sum/float64(n-codecDelay)) / (amplitude / math.Sqrt2)
				g.Expect(level).To(gomega.BeNumerically("~", 1, 0.15), "complexity %d, stretch %d, frame %d", complexity, stretch, frame)
			}
			for range 10 * (stretch % 2) {
				_, err := dec.Decode(SilentPacket(), out)
				g.Expect(err).NotTo(gomega.HaveOccurred())
			}
			enc.Reset()
		}
	}
}

// A packet that the decoder refuses leaves it as it was: the next packets sound as if the refused one had not come.
func TestARefusedPacketIsNotHeard(t *testing.T) {
	g := gomega.NewWithT(t)
	enc, err := NewEncoder(1, 40_000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	dec, err := NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	undisturbed, err := NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm, packet, got, want := make([]int16, FrameSize), make([]byte, MaxBytes), make([]int16, MaxPacket), make([]int16, MaxPacket)
	for frame := range 20 {
		for i := range pcm {
			pcm[i] = int16(12_000 * math.Sin(float64((frame*FrameSize+i)*7)/100))
		}
		n, err := enc.Encode(pcm, packet)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		sound := packet[1:n]
		for _, bad := range [][]byte{
			append([]byte{packet[0] | 1}, append(sound[:len(sound)/2*2:len(sound)/2*2], 0)...), // two frames of one length, and a byte more
			append([]byte{packet[0] | 3, 2}, append(sound[:len(sound)/2*2:len(sound)/2*2], 0)...),
			append([]byte{packet[0] | 3, 0x83, 40, 251}, sound...), // three frames, the second longer than the rest
			append([]byte{packet[0] | 3, 0x87, 1, 2, 3, 4, 5, 6}, sound...),
		} {
			_, err := dec.Decode(bad, got)
			g.Expect(err).To(gomega.HaveOccurred())
		}
		m, err := dec.Decode(packet[:n], got)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = undisturbed.Decode(packet[:n], want)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(got[:m]).To(gomega.Equal(want[:m]), "frame %d", frame)
	}
}

// The sound before a stereo packet of silence ends as before a mono one: it fades, and is not cut.
func TestSilenceOfAStereoClientCutsNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	enc, err := NewEncoder(1, 40_000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm, packet := make([]int16, FrameSize), make([]byte, MaxBytes)
	var ends [2][]int16
	for i := range pcm {
		pcm[i] = int16(12_000 * math.Sin(float64(i*7)/100))
	}
	n, err := enc.Encode(pcm, packet)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for i, silent := range [][]byte{{0xF8, 0xFF, 0xFE}, {0xFC, 0xFF, 0xFE}} {
		dec, err := NewDecoder()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ends[i] = make([]int16, MaxPacket)
		for _, p := range [][]byte{packet[:n], silent} {
			_, err = dec.Decode(p, ends[i])
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
	}
	g.Expect(ends[0][:60]).To(gomega.ContainElement(gomega.BeNumerically(">", 1000)), "2.5 ms in which the sound fades")
	g.Expect(ends[1]).To(gomega.Equal(ends[0]))
}
