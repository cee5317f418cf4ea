package phone

// Telephones that flood, end, fail, or ask for what there is not.

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
)

func TestTelephoneThatFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: 8000, Ahead: MaxAhead}}
		c := begin(t, f, f)
		for range 100 {
			c.link.Audio(make([]int16, 8000))
		}
		c.Expect(c.told.heard).To(gomega.BeNumerically("<=", 4*outgoing.Rate))
		c.Expect(c.link.Dropped()).To(gomega.Equal(uint64(96 * 8000)))
		for range 1000 {
			c.link.Digit('5')
		}
		c.link.Digit('x')
		c.Expect(slices.DeleteFunc(c.told.all(), func(w string) bool { return w != "digit 5" })).To(gomega.HaveLen(burstDigits))
		c.pass(50)
		c.link.Digit('d')
		c.Expect(c.told.all()).To(gomega.ContainElement("digit D"))
		c.end()
	})
}

func TestTelephoneThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: 8000, Ahead: MaxAhead}}
		c := begin(t, f, f)
		c.link.Ended(link.ErrHungUp)
		c.link.Ended(link.ErrUnreachable)
		c.Expect(c.told.all()).To(gomega.Equal([]string{"opened", "failed: client hung up"}))
		c.end()
		c.link.Digit('1')
		c.link.Audio(make([]int16, 160))
		c.link.Begin()
		c.Expect(c.told.all()).To(gomega.HaveLen(2), "the link is closed")
		c.Expect(c.link.Send(link.Event{}, nil)).To(gomega.MatchError(link.ErrClosed))
	})
}

func TestTransportThatFailsEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: 8000, Ahead: MaxAhead}, fails: errors.New("broken pipe")}
		c := begin(t, f, f)
		c.out.Begin(1)
		c.out.Write(ramp(0, 50*fs))
		c.pass(5)
		c.Expect(c.told.all()).To(gomega.Equal([]string{"opened", "failed: client cannot be reached: broken pipe"}))
		c.end()
	})
}

func TestEventsThatATelephoneDoesNotShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: 8000}}
		c := begin(t, f, f)
		sent := 0
		for range maxUnsent {
			c.Expect(c.link.Send(link.Event{}, func() { sent++ })).To(gomega.Succeed())
		}
		c.Expect(c.link.Send(link.Event{}, func() {})).To(gomega.MatchError(link.ErrBackpressure))
		c.pass(2)
		c.Expect(sent).To(gomega.Equal(maxUnsent))
		c.end()
	})
}

func TestTransportsThatAreRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, traits := range []Traits{{Rate: 11025}, {Rate: 8000, Ahead: 4}, {Rate: 8000, Ahead: -1}} {
		_, err := NewLink(&far{traits: traits}, &told{})
		g.Expect(err).To(gomega.HaveOccurred())
	}
}
