package rtc

// The sent audio that is kept for finding echo.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

func TestSentAudioIsKeptForASecond(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewOutput(randomStart())
	var pcm [FrameSize]int16
	dst := make([]int16, FrameSize)
	g.Expect(s.ReadFarEnd(0, dst)).To(gomega.BeFalse(), "nothing was sent")

	s.next(&pcm) // silence
	s.Begin(1)
	said := make([]int16, 3*FrameSize)
	for i := range said {
		said[i] = int16(i + 1)
	}
	s.Write(said)
	s.next(&pcm)
	s.next(&pcm)
	s.Hold()
	s.next(&pcm)
	g.Expect(s.FarEndPosition()).To(gomega.Equal(voice.Samples(4 * FrameSize)))
	for i, first := range []int16{0, 1, FrameSize + 1, 0} {
		g.Expect(s.ReadFarEnd(voice.Samples(i*FrameSize), dst)).To(gomega.BeTrue())
		g.Expect(dst[0]).To(gomega.Equal(first), "frame %d", i)
	}
	g.Expect(s.ReadFarEnd(FrameSize/2, dst)).To(gomega.BeTrue())
	g.Expect(dst[FrameSize/2:]).To(gomega.Equal(said[:FrameSize/2]), "from any position")
	g.Expect(s.ReadFarEnd(3*FrameSize+1, dst)).To(gomega.BeFalse(), "not sent yet")
	g.Expect(s.ReadFarEnd(-1, dst)).To(gomega.BeFalse())

	s.skip(2)
	g.Expect(s.FarEndPosition()).To(gomega.Equal(voice.Samples(6*FrameSize)), "skipped frames count, too")
	for range 50 {
		s.next(&pcm)
	}
	g.Expect(s.ReadFarEnd(0, dst)).To(gomega.BeFalse(), "forgotten")
	g.Expect(s.ReadFarEnd(s.FarEndPosition()-outgoing.FarEndKept, dst)).To(gomega.BeTrue())
}
