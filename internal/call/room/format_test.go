package room_test

// Audio formats of events, in both directions.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// A recording keeps its length to the sample in every format, also when its bytes come in pieces of odd sizes.
func TestThereAndBack(t *testing.T) {
	pcm := make([]int16, room.OutputRate)
	for i := range pcm {
		pcm[i] = int16(i % 1000)
	}
	for _, name := range []string{wire.FormatPCM, wire.FormatPCMU, wire.FormatPCMA} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			bytes, err := room.Encode(name, pcm)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			var d room.Decoder
			var back []int16
			for rest := bytes; len(rest) > 0; {
				n := min(len(rest), 962)
				piece, err := d.Decode(name, rest[:n])
				g.Expect(err).NotTo(gomega.HaveOccurred())
				back = append(back, piece...)
				rest = rest[n:]
			}
			back = append(back, d.Rest()...)
			g.Expect(back).To(gomega.HaveLen(len(pcm)))
			if name == wire.FormatPCM {
				g.Expect(back).To(gomega.Equal(pcm))
			}
		})
	}
}

// A new format begins a new stream: the resampler keeps no audio of the old one.
func TestANewFormatBeginsANewStream(t *testing.T) {
	g := gomega.NewWithT(t)
	var d room.Decoder
	_, err := d.Decode(wire.FormatPCMU, make([]byte, 100))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm, err := d.Decode(wire.FormatPCM, []byte{1, 0, 2, 0})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(pcm).To(gomega.Equal([]int16{1, 2}))
	g.Expect(d.Rest()).To(gomega.BeEmpty())
}
