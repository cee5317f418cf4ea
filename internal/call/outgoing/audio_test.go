package outgoing

// What is kept of the audio that was sent, and when frames are due. The tests of internal/call/rtc and internal/call/phone have the rest.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

func ramp(from, to voice.Samples) []int16 {
	pcm := make([]int16, 0, to-from)
	for i := from; i < to; i++ {
		pcm = append(pcm, int16(i))
	}
	return pcm
}

func TestAudioKeepsTenSecondsAndNoMore(t *testing.T) {
	g := gomega.NewWithT(t)
	var s Audio
	s.Begin(1)
	var pcm [FrameSize]int16
	for i := range voice.Samples(1000) { // 20 s
		s.Write(ramp(i*FrameSize, (i+1)*FrameSize))
		g.Expect(s.Next(&pcm).Voiced).To(gomega.BeTrue())
		g.Expect(len(s.history.blocks)).To(gomega.BeNumerically("<=", int(Keep)/blockSize+2))
	}
	_, _ = s.Resume(2, s.Sent()-Keep)
	s.Next(&pcm)
	g.Expect(pcm[:]).To(gomega.Equal(ramp(10*Rate, 10*Rate+FrameSize)))
	_, _ = s.Resume(3, 0)
	g.Expect(s.Sent()).To(gomega.BeNumerically("~", 10*Rate, blockSize), "as far back as audio is kept")
	_, _ = s.Resume(4, 1<<40)
	g.Expect(s.Sent()).To(gomega.Equal(voice.Samples(20*Rate)), "never beyond what was written")
}

func TestClocksWakeUpTogether(t *testing.T) {
	for name, row := range map[string]struct{ at, want time.Duration }{
		"on the grid":           {10 * time.Millisecond, 10 * time.Millisecond},
		"just after the grid":   {10*time.Millisecond + 1, 15 * time.Millisecond},
		"in the middle of it":   {12 * time.Millisecond, 15 * time.Millisecond},
		"just before the grid":  {15*time.Millisecond - 1, 15 * time.Millisecond},
		"later by many seconds": {999*time.Second + time.Millisecond, 999*time.Second + wakeTime},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Unix(1_700_000_000, 0)
			gomega.NewWithT(t).Expect(onGrid(begin.Add(row.at))).To(gomega.Equal(begin.Add(row.want)))
		})
	}
}
