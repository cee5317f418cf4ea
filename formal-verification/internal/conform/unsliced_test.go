package conform

import (
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/session"
)

// near is how many states the tests meet: make verify-long meets all of them.
const near = 30_000

func TestUnsliced(t *testing.T) {
	found, err := Unsliced{Settings: UnslicedSettings(), Limit: near, Next: session.Next}.Explore()
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(found.States).To(gomega.Equal(near))
	t.Logf("%+v", found)
}

// TestUnslicedBites plants a fault that no slice has the room to show: it needs a reply that waits, and a client that reports.
func TestUnslicedBites(t *testing.T) {
	drops := func(s session.State, at playout.Mark, e session.Event) (session.State, []session.Effect, []session.Step) {
		to, effects, steps := session.Next(s, at, e)
		if cut, is := s.Playout.(playout.Cut); is && to.Queued.Len() > 0 && to.Config != s.Config {
			effects = append(slices.Clone(effects), playout.Play{Resp: to.Queued[0], Gen: cut.Gen}, playout.EmitCleared{Resp: cut.Resp})
		}
		return to, effects, steps
	}
	_, err := Unsliced{Settings: UnslicedSettings(), Limit: near, Next: drops}.Explore()
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("OneReplyAtATime")))
}
