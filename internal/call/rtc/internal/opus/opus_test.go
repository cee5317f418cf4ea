package opus

// A decoder that panics, one that gets much silence, and one that gets the beginning of a response.

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
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

// A decoder that passes over packets of silence gives the same samples as one that decodes them all.
func TestSilenceIsNotDecoded(t *testing.T) {
	g := gomega.NewWithT(t)
	enc, err := NewEncoder(1, 40_000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	quick, err := NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	whole, err := NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	got, want := make([]int16, MaxPacket), make([]int16, MaxPacket)
	same := func(packet []byte, step string) {
		n, err := quick.Decode(packet, got)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		whole.quiet = 0 // it never passes over a packet
		m, err := whole.Decode(packet, want)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(got[:n]).To(gomega.Equal(want[:m]), step)
	}
	pcm, packet := make([]int16, FrameSize), make([]byte, MaxBytes)
	for stretch := range 3 {
		for frame := range 5 {
			for i := range pcm {
				pcm[i] = int16(12_000 * math.Sin(float64((frame*FrameSize+i)*(7+stretch))/100))
			}
			n, err := enc.Encode(pcm, packet)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			same(packet[:n], "sound")
		}
		for range 20 {
			same(SilentPacket(), "silence")
		}
		g.Expect(quick.quiet).To(gomega.Equal(settled))
	}
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
