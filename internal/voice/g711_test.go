package voice

import (
	"testing"

	"github.com/onsi/gomega"
)

// The pairs are from the tables of the recommendation, on the scale of int16.
func TestG711KnownValues(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(MuLawToPCM16(nil, []byte{0xFF, 0x7F, 0x80, 0x00, 0xFE, 0xEF})).
		To(gomega.Equal([]int16{0, 0, 32124, -32124, 8, 132}))
	g.Expect(AppendMuLaw(nil, []int16{0, 32767, -32768, 8, 132})).
		To(gomega.Equal([]byte{0xFF, 0x80, 0x00, 0xFE, 0xEF}))
	g.Expect(ALawToPCM16(nil, []byte{0xD5, 0x55, 0xAA, 0x2A, 0xD4})).
		To(gomega.Equal([]int16{8, -8, 32256, -32256, 24}))
	g.Expect(AppendALaw(nil, []int16{0, -1, 32767, -32768, 24})).
		To(gomega.Equal([]byte{0xD5, 0x55, 0xAA, 0x2A, 0xD4}))
}

func TestG711CodingADecodedByteGivesTheByte(t *testing.T) {
	g := gomega.NewWithT(t)
	for b := range 256 {
		if b != 0x7F { // mu-law has two zeros; the negative one is never written
			g.Expect(AppendMuLaw(nil, MuLawToPCM16(nil, []byte{byte(b)}))).To(gomega.Equal([]byte{byte(b)}))
		}
		g.Expect(AppendALaw(nil, ALawToPCM16(nil, []byte{byte(b)}))).To(gomega.Equal([]byte{byte(b)}))
	}
}

func TestG711ErrsByAtMostHalfAStep(t *testing.T) {
	g := gomega.NewWithT(t)
	for s := -32635; s <= 32635; s += 7 {
		size := max(s, -s)
		allowed := size/32 + 8 // a step is at most a sixteenth of the value, half of one is a thirty-second
		mu := int(fromMuLaw(toMuLaw(int16(s))))
		a := int(fromALaw(toALaw(int16(s))))
		g.Expect(mu-s).To(gomega.BeNumerically("~", 0, allowed), "mu-law of %d", s)
		g.Expect(a-s).To(gomega.BeNumerically("~", 0, allowed), "A-law of %d", s)
	}
}
