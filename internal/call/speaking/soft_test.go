package speaking

// A held response that goes on softly.

import (
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// held returns the bench while track 1 is held and goes on softly. ducks says that the client lowers the agent itself.
func held(t *testing.T, ducks bool) (*playerBench, *Track) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(2), false)
	b.Play(one, 1)
	b.out.calls, b.out.sent = nil, second/2
	b.Hold(1, ducks)
	return b, one
}

// state is that of the machines while track 1 is held. client is the client's candidate; 0 for none.
func holding(client turn.ID) *coord.State {
	return &coord.State{
		Turn: turn.Candidate{Turn: 1}, Playout: playout.Held{Resp: 1, Candidate: 1, Client: client, Awaits: client != 0, At: playout.Position{Item: 1, MS: 500}, Started: true, Gen: 1},
	}
}

func TestAHeldResponseGoesOnSoftly(t *testing.T) {
	b, one := held(t, false)
	b.g.Expect(b.out.calls).To(gomega.Equal([]string{"soften"}))
	b.out.sent = second
	b.g.Expect(b.Settle(coord.OfTurn{Event: turn.Silence{Turn: 1}}, holding(0))).To(gomega.BeNil(), "that is no verdict")
	verdict := coord.OfTurn{Event: turn.Misfire{Turn: 1}}
	heard := coord.OfPlayout{Event: playout.Missed{Resp: 1, From: b.ItemPosition()}}
	b.g.Expect(b.Settle(verdict, holding(0))).To(gomega.Equal(heard))
	b.Resume(one, playout.Position{Item: 1, MS: 1000}, 2)
	b.g.Expect(b.out.resumed).To(gomega.Equal(second), "nothing is said again")
	b.g.Expect(b.Settle(verdict, holding(0))).To(gomega.BeNil(), "it is over")
}

// For a client that does not report, the response goes on where the server has silenced it.
func TestTheSoftSoundEnds(t *testing.T) {
	b, _ := held(t, false)
	b.out.sent = second
	b.g.Expect(b.Silence(holding(0))).To(gomega.Equal(room.List{room.Step{Event: coord.OfPlayout{Event: playout.Missed{Resp: 1, From: b.ItemPosition()}}}}))
	b.g.Expect(b.out.calls).To(gomega.Equal([]string{"soften", "hold"}))
	b.g.Expect(b.Silence(holding(0))).To(gomega.BeEmpty())
	b.g.Expect(b.out.calls).To(gomega.HaveLen(2), "it is silent already")
}

// A client that has ducked the agent gets its answer when the silence begins, and only then must report.
func TestTheClientsCandidateIsAnsweredWithTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := held(t, true)
		b.g.Expect(b.out.calls).To(gomega.BeEmpty(), "the client lowers it")
		b.g.Expect(b.Answer("mine", true)).To(gomega.BeEmpty())
		b.AwaitReady(1)
		b.g.Expect(b.posted).To(gomega.BeEmpty())
		out := b.Silence(holding(1))
		b.g.Expect(out).To(gomega.HaveLen(1))
		b.g.Expect(out[0].(room.Send).Event.(*wire.AntiphonAck).Acknowledges).To(gomega.Equal("mine"))
		b.g.Expect(b.out.calls).To(gomega.Equal([]string{"hold"}))
	})
}

// The verdict on a client's candidate comes while the response goes on: the machines need not wait for the client's report.
func TestAVerdictBeforeTheSilenceIsTheReport(t *testing.T) {
	b, _ := held(t, true)
	b.out.sent = second
	got := b.Settle(coord.OfTurn{Event: turn.Misfire{Turn: 1}}, holding(1))
	b.g.Expect(got).To(gomega.Equal(coord.OfPlayout{Event: playout.Ready{Candidate: 1, At: b.ItemPosition()}}))
}

// Only a client that has reported a candidate can make the response go back.
func TestAClientWithoutACandidateCannotGoBack(t *testing.T) {
	b := newPlayerBench(t, true)
	one := b.track()
	b.Write(one, seconds(2), false)
	b.Play(one, 1)
	_, ok := b.Ready(0, 480, playout.Playing{Resp: 1})
	b.g.Expect(ok).To(gomega.BeFalse())
}

// A client that cannot be reached hears nothing: what was to go on softly is said again when it is back.
func TestNothingGoesOnForAClientThatIsAway(t *testing.T) {
	b, _ := held(t, false)
	s := holding(0)
	s.Conn = conn.Interrupted{}
	b.FollowLink(s)
	b.g.Expect(b.out.calls).To(gomega.Equal([]string{"soften", "hold"}))
	b.g.Expect(b.Settle(coord.OfTurn{Event: turn.Misfire{Turn: 1}}, s)).To(gomega.BeNil())
}
