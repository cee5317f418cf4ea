package speaking

// A held response that goes on softly.

import (
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// softOutput is a fakeOutput that can play softly.
type softOutput struct{ *fakeOutput }

func (o softOutput) Soften(float32) { o.note("soften") }

// held returns the bench while track 1 is held and goes on softly. ducks says that the client lowers the agent itself.
func held(t *testing.T, ducks bool) (*playerBench, *Track) {
	b := newPlayerBench(t, true)
	b.able.Softener = softOutput{b.out}
	one := b.track()
	b.Write(one, seconds(2), false)
	b.Play(one, 1)
	b.out.calls, b.out.sent = nil, second/2
	b.Hold(1, ducks)
	return b, one
}

func TestAHeldResponseGoesOnSoftly(t *testing.T) {
	b, one := held(t, false)
	b.g.Expect(b.out.calls).To(gomega.Equal([]string{"soften"}))
	b.out.sent = second
	b.g.Expect(b.Silence()).To(gomega.BeEmpty())
	b.g.Expect(b.out.calls).To(gomega.Equal([]string{"soften", "hold"}))
	b.g.Expect(b.Silence()).To(gomega.BeEmpty())
	b.g.Expect(b.out.calls).To(gomega.HaveLen(2), "it is silent already")
	b.g.Expect(b.CutAt(1, playout.Position{Item: 1, MS: 500})).To(gomega.Equal(playout.Position{Item: 1, MS: 1000}), "it was heard until then")
	b.Resume(one, playout.Position{Item: 1, MS: 500}, 2)
	b.g.Expect(b.out.resumed).To(gomega.Equal(second/2), "what was soft is said again")
	b.g.Expect(b.CutAt(1, playout.Position{Item: 1, MS: 700})).To(gomega.Equal(playout.Position{Item: 1, MS: 700}))
}

// A client that has ducked the agent gets its answer when the silence begins, and only then must report.
func TestTheClientsCandidateIsAnsweredWithTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := held(t, true)
		b.g.Expect(b.out.calls).To(gomega.BeEmpty(), "the client lowers it")
		b.g.Expect(b.Answer("mine", true)).To(gomega.BeEmpty())
		b.AwaitReady(1)
		b.g.Expect(b.posted).To(gomega.BeEmpty())
		out := b.Silence()
		b.g.Expect(out).To(gomega.HaveLen(1))
		b.g.Expect(out[0].(room.Send).Event.(*wire.AntiphonAck).Acknowledges).To(gomega.Equal("mine"))
		b.g.Expect(b.out.calls).To(gomega.Equal([]string{"hold"}))
	})
}

// A response that nobody has lowered goes on where it is.
func TestAResponseAtFullLevelIsNotSaidAgain(t *testing.T) {
	b, one := held(t, true)
	b.out.sent = second
	b.Resume(one, playout.Position{Item: 1, MS: 500}, 2)
	b.g.Expect(b.out.resumed).To(gomega.Equal(second))
}
