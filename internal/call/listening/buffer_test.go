package listening

// The input buffer: no sample is lost or doubled.

import (
	"math/rand/v2"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// TestBytesConserved makes random appends, commits, clears and detector decisions. The appended samples are the committed, cleared,
// dropped and remaining ones together, and committed samples come once and in order.
func TestBytesConserved(t *testing.T) {
	g := gomega.NewWithT(t)
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var b buffer
		var next int16         // the value of the next sample appended
		var last voice.Samples // position after the newest sample that left the buffer
		for range 300 {
			switch rnd.IntN(6) {
			case 0, 1, 2:
				pcm := make([]int16, rnd.IntN(960))
				for i := range pcm {
					pcm[i] = next
					next++
				}
				b.Append(pcm)
			case 3:
				b.DropBefore(b.end - voice.Samples(rnd.IntN(2000)))
				last = max(last, b.Start())
			case 4:
				start := b.Start()
				g.Expect(start).To(gomega.BeNumerically(">=", last), "nothing is committed twice")
				for i, v := range b.Commit() {
					if v != int16(start+voice.Samples(i)) {
						t.Fatalf("seed %d: sample %d is %d", seed, start+voice.Samples(i), v)
					}
				}
				last = b.Start()
			case 5:
				b.DropBefore(b.end)
				last = b.Start()
			}
			if b.appended != b.committed+b.dropped+voice.Samples(b.Len()) {
				t.Fatalf("seed %d: BytesConserved: %+v", seed, b)
			}
		}
	}
}
