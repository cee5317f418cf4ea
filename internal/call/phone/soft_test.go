package phone

// A response that goes on softly over a telephone.

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
)

// A response that goes on softly loses no sample, repeats none, and leaves the far side's queue alone.
func TestSoftResponseGoesOn(t *testing.T) {
	for name, row := range map[string]struct {
		of   func(f *far) Transport
		most int
	}{
		"a queue that stops":       {func(f *far) Transport { return queued{f} }, MaxAhead},
		"a queue that only drops":  {func(f *far) Transport { return flushed{f} }, MaxAhead},
		"a far side without queue": {func(f *far) Transport { return f }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: row.most}}
				c := begin(t, row.of(f), f)
				c.out.Begin(1)
				c.out.Write(slices.Repeat([]int16{1000}, 50*fs))
				c.out.End()
				c.pass(20)
				c.out.Soften(0.1)
				c.pass(10)
				c.out.Resume(2, c.out.Sent())
				c.pass(40)
				c.Expect(f.played).To(gomega.HaveLen(50 * fs))
				soft := slices.Index(f.played, 100)
				c.Expect(soft/fs).To(gomega.BeNumerically("~", 20, row.most), "what the far side has is as loud as before")
				loud := soft + slices.Index(f.played[soft:], 1000)
				c.Expect((loud - soft + fs/2) / fs).To(gomega.Equal(10))
				c.Expect(f.played[loud:]).To(gomega.HaveEach(int16(1000)))
				c.Expect(f.did).To(gomega.BeEmpty())
				c.Expect(c.told.all()).To(gomega.Equal([]string{"opened", "drained 2"}))
				c.end()
			})
		})
	}
}
