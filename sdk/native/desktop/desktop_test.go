//go:build !js

package desktop

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

func TestWithoutAServerThereIsAWordForIt(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("PULSE_SERVER", "unix:"+t.TempDir()+"/none")
	_, err := OpenMicrophone("")
	g.Expect(err).To(gomega.Or(gomega.MatchError(ErrNoServer), gomega.MatchError(ErrNoLibrary)))
	_, err = OpenSpeaker("nothing of that name")
	g.Expect(err).To(gomega.Or(gomega.MatchError(ErrNoServer), gomega.MatchError(ErrNoLibrary)))
}
