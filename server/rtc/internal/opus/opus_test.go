package opus

// A decoder that panics.

import (
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
