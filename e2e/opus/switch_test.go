package opus

// Intact packets of one form after those of another, as an encoder sends them that changes its mode, its bandwidth or its channels.

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// TestSwitches decodes the first packets of one stream after those of another. The samples are the same, but for the first 10 ms after a switch of the mode:
// there the decoder conceals, because the encoder of the stream before has added no redundant frame.
func TestSwitches(t *testing.T) {
	lib, g := libopus(t, pinned)
	r := rand.New(rand.NewPCG(7, 8))
	all := slices.DeleteFunc(streams(t, lib, 0.6), func(s stream) bool {
		return strings.Contains(s.name, "dtx=true") || !strings.HasPrefix(s.name, "libopus") || strings.Contains(s.name, "joined") || len(s.packets[0]) > longest/2
	})
	tally := newTally(lib)
	for range 3000 {
		from, to := all[r.IntN(len(all))], all[r.IntN(len(all))]
		ours, err := opus.NewDecoder()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		theirs := lib.newReference(g, opus.Rate, 1)
		a, b := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket)
		before := from.packets[:min(3, len(from.packets))]
		kind := modes[mode(before[0])] + " to " + modes[mode(to.packets[0])]
		for i, p := range append(slices.Clone(before), to.packets[:min(3, len(to.packets))]...) {
			n, err := ours.Decode(p, a)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(theirs.decode(p, b)).To(gomega.Equal(n))
			if i < len(before) {
				continue
			}
			tally.add(kind, apart(a[:n], b[:n]))
			skip := 0
			if i == len(before) && mode(p) != mode(before[0]) {
				skip = min(n, opus.Rate/100)
			}
			g.Expect(apart(a[skip:n], b[skip:n])).To(gomega.BeNumerically("<=", []int{exact, nearly, exact}[mode(p)]), "%s, %s, packet %d", from.name, to.name, i)
		}
		theirs.close()
	}
	t.Log(tally)
}
