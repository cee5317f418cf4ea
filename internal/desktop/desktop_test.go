//go:build !js

package desktop

// The queue between a call and the default loudspeaker.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

var (
	_ native.Source = (*Microphone)(nil)
	_ native.Sink   = (*Speaker)(nil)
)

func TestTheQueueIsBoundedAndKeepsTheNewest(t *testing.T) {
	g := gomega.NewWithT(t)
	var q queue
	pcm := make([]int16, kept+100)
	for i := range pcm {
		pcm[i] = int16(i)
	}
	q.put(pcm[:50])
	q.put(pcm)
	g.Expect(q.pcm).To(gomega.HaveLen(kept))
	out := make([]int16, 10)
	q.take(out)
	g.Expect(out[0]).To(gomega.Equal(int16(100)))
	q.take(make([]int16, kept-11))
	q.take(out)
	g.Expect(out).To(gomega.Equal([]int16{int16(kept + 99), 0, 0, 0, 0, 0, 0, 0, 0, 0}))
	g.Expect(q.pcm).To(gomega.BeEmpty())
}

func TestAReadReturnsWholeSamplesThenSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	var q queue
	q.put([]int16{1, -2, 0x1234})
	p := []byte{9, 9, 9, 9, 9, 9, 9, 9, 9}
	n, err := q.Read(p)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(n).To(gomega.Equal(8))
	g.Expect(p).To(gomega.Equal([]byte{1, 0, 0xFE, 0xFF, 0x34, 0x12, 0, 0, 9}))
}
