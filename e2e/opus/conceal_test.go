package opus

// Lost packets: concealed, and recovered from the redundancy of the next packet.

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// TestLostPackets loses a sixth of the packets of intact streams. The standard leaves the concealed sound open. Both decoders conceal with the same
// loudness, and 95 % of it to the sample.
func TestLostPackets(t *testing.T) {
	lib, g := libopus(t, pinned)
	r := rand.New(rand.NewPCG(3, 4))
	tally := newTally(lib)
	ours, theirs := map[string]float64{}, map[string]float64{} // the energy of what was concealed
	for _, s := range streams(t, lib, 2) {
		if len(s.packets[0]) > longest/2 || slices.ContainsFunc(s.packets, lib.short) {
			continue
		}
		dec, err := opus.NewDecoder()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ref := lib.newReference(g, opus.Rate, 1)
		a, b := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket)
		kind := modes[mode(s.packets[0])] + []string{", mono", ", stereo"}[s.packets[0][0]>>2&1]
		last := 0
		for i, p := range s.packets {
			if i > 2 && r.IntN(6) == 0 {
				what, size := "concealed, ", min(last, opus.FrameSize)
				if recovers := strings.Contains(s.name, "fec=true") && last <= opus.FrameSize && dec.Redundant(p); recovers {
					what = "recovered, "
					g.Expect(dec.Recover(p, a[:size])).To(gomega.BeTrue())
					g.Expect(ref.recover(p, b[:size])).To(gomega.Equal(size))
				} else {
					g.Expect(dec.Conceal(a[:size])).To(gomega.Succeed())
					g.Expect(ref.decode(nil, b[:size])).To(gomega.Equal(size))
				}
				tally.add(what+kind, apart(a[:size], b[:size]))
				ours[what+kind] += math.Pow(level(a[:size]), 2) * float64(size)
				theirs[what+kind] += math.Pow(level(b[:size]), 2) * float64(size)
			}
			last, err = dec.Decode(p, a)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(ref.decode(p, b)).To(gomega.Equal(last))
			tally.add("decoded after losses, "+kind, apart(a[:last], b[:last]))
		}
		ref.close()
	}
	t.Log(tally)
	for kind, energy := range ours {
		louder := 10 * math.Log10(energy/theirs[kind])
		t.Logf("%s: ours is %.2f dB louder", kind, louder)
		g.Expect(louder).To(gomega.BeNumerically("~", 0, 0.5), kind)
		k := tally.kinds[kind]
		g.Expect(float64(k.same+k.exact)/float64(k.packets)).To(gomega.BeNumerically(">", 0.95), kind)
	}
}
