package conform

// The exploration of the whole composition, up to a limit, and a fault that only it finds.

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

// TestUnslicedBites plants a fault that no slice shows: it needs a client that reports, and a change of the settings.
func TestUnslicedBites(t *testing.T) {
	begins := func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		to, effects, steps := session.Next(s, at, e)
		if cut, is := s.Playout.(playout.Cut); is && to.Config != s.Config {
			effects = append(slices.Clone(effects), playout.Play{Resp: cut.Resp + 1, Gen: cut.Gen}, playout.EmitCleared{Resp: cut.Resp})
		}
		return to, effects, steps
	}
	_, err := Unsliced{Settings: UnslicedSettings(), Limit: near, Next: begins}.Explore()
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("OneReplyAtATime")))
}
